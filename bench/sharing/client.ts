import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Answer {
  id?: number;
  result?: { isError?: boolean; structuredContent?: Record<string, unknown> };
  error?: { data?: { code?: string } };
}

export interface Client {
  readonly pid: number;
  /** Time from the start of the process to the answer to `initialize`. */
  readonly startMs: number;
  /** Answers without a pending request. */
  readonly unexpected: Answer[];
  request(method: string, params: object): Promise<Answer>;
  end(): Promise<number>;
}

const program = fileURLToPath(new URL('../../bin/carrel.js', import.meta.url));

/** Starts a client of the built program, with all data and settings in the folder. */
export async function startClient(folder: string, args: readonly string[]): Promise<Client> {
  const start = performance.now();
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      CARREL_HOME: join(folder, 'data'),
      RATE_LIMIT_NOTES: '100000',
    },
  });
  child.stderr.pipe(process.stderr);
  const pending = new Map<number, (answer: Answer) => void>();
  const unexpected: Answer[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer: Answer = JSON.parse(line);
    const resolveAnswer = pending.get(Number(answer.id));
    pending.delete(Number(answer.id));
    if (resolveAnswer) resolveAnswer(answer);
    else unexpected.push(answer);
  });
  let id = 0;
  const request = (method: string, params: object): Promise<Answer> => {
    id += 1;
    const { promise, resolve } = Promise.withResolvers<Answer>();
    pending.set(id, resolve);
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return promise;
  };
  const clientInfo = { name: 'bench', version: '1' };
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const startMs = performance.now() - start;
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    pid: Number(child.pid),
    startMs,
    unexpected,
    request,
    async end() {
      const exited = once(child, 'exit');
      child.stdin.end();
      const [code] = await exited;
      return code;
    },
  };
}
