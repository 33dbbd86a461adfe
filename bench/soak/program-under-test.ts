import { Agent } from 'node:http';
import {
  type ChildProgram,
  carrelProgram,
  type ProgramFolders,
  startProgram,
  withModels,
} from '../../test/support/child-program.ts';
import { exchange, modernRequest } from '../../test/support/raw-http.ts';

export interface CallOutcome {
  /** The tool's result; undefined if it failed or did not answer. */
  readonly value: Record<string, unknown> | undefined;
  /** The error code of a failed call. If both fields are undefined, no answer came and the outcome is unknown. */
  readonly code: string | undefined;
}

/** The built program over HTTP. Tests kill it and restart it on the same data. */
export interface ProgramUnderTest {
  call(tool: string, args: Record<string, unknown>): Promise<CallOutcome>;
  memoryNow(): number;
  signal(name: NodeJS.Signals): void;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const listening = /^carrel: listening on (\S+)$/m;
const callTimeoutMs = 60_000;

export async function startProgramUnderTest(
  env: Record<string, string>,
  folders: ProgramFolders,
): Promise<ProgramUnderTest> {
  let program: ChildProgram;
  let url = '';
  let agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const start = async (): Promise<void> => {
    program = startProgram(
      carrelProgram,
      ['serve', '--transport', 'http', '--port', '0'],
      { ...withModels, ...env },
      folders,
    );
    const ended = program.exited.then((code) => {
      throw new Error(`the program exited with code ${code} during startup: ${program.stderrText().slice(-1000)}`);
    });
    [, url = ''] = await Promise.race([program.waitForOutput(listening), ended]);
    ended.catch(() => {});
  };
  await start();
  return {
    async call(tool, args) {
      const { headers, message } = modernRequest('tools/call', { name: tool, arguments: args });
      const options = { headers, body: JSON.stringify(message), agent, signal: AbortSignal.timeout(callTimeoutMs) };
      const answer = await exchange(url, options).catch(() => undefined);
      const [first] = answer?.messages ?? [];
      if (first === undefined) return { value: undefined, code: undefined };
      const value = Object(first.result)['structuredContent'];
      if (first.result !== undefined && Object(first.result)['isError'] !== true) return { value, code: undefined };
      const code = first.error?.data?.['code'] ?? Object(Object(value)['error'])['code'] ?? `status ${answer?.status}`;
      return { value: undefined, code: String(code) };
    },
    memoryNow: () => program.memory().now,
    signal: (name) => void program.process.kill(name),
    async restart() {
      program.process.kill('SIGKILL');
      await program.exited;
      agent.destroy();
      agent = new Agent({ keepAlive: true, maxSockets: 16 });
      await start();
    },
    async stop() {
      agent.destroy();
      await program.stop();
    },
  };
}
