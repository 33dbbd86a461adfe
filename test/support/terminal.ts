import { spawnSync } from 'node:child_process';
import { carrelProgram, cleanEnv } from './child-program.ts';

/** Timeout for a command that hangs, far above what any command takes on a busy machine. */
const hangTimeoutMs = 300_000;

export interface CliRun {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built program until it exits, with its output in pipes. */
export function runPiped(
  dataDir: string,
  args: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): CliRun {
  const { status, stdout, stderr } = spawnSync(process.execPath, [carrelProgram, ...args], {
    env: cleanEnv(dataDir, env),
    input,
    encoding: 'utf8',
    timeout: hangTimeoutMs,
  });
  return { status, stdout, stderr };
}

/** Runs the built program on a terminal with `columns` columns. Stdout and stderr are merged, as people see them. */
export function runOnTerminal(
  dataDir: string,
  args: readonly string[],
  { env = {}, columns = 100, input = '' }: { env?: Record<string, string>; columns?: number; input?: string } = {},
): CliRun {
  const words = [process.execPath, carrelProgram, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const command = `stty cols ${columns} rows 40; exec ${words.join(' ')}`;
  const { status, stdout, stderr } = spawnSync('script', ['-qec', command, '/dev/null'], {
    env: cleanEnv(dataDir, { TERM: 'xterm', SHELL: '/bin/sh', ...env }),
    input,
    encoding: 'utf8',
    timeout: hangTimeoutMs,
  });
  return { status, stdout: stdout.replaceAll('\r\n', '\n'), stderr };
}
