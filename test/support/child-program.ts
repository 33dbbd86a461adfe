import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ChildProgram {
  readonly process: ChildProcessWithoutNullStreams;
  /** What it has written to stderr so far. */
  stderrText(): string;
  /** Settles when stderr holds a match, with its groups; fails if the program ends before that. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resident memory in bytes. */
  residentBytes(): number;
  /** Ends it and gives back its exit code. */
  stop(): Promise<number | null>;
}

export interface ListeningProgram extends ChildProgram {
  readonly url: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
export const echoProgram = join(root, 'test/support/echo-program.ts');
export const carrel = join(root, 'bin/carrel.js');

/** Starts a program of this repository; nothing of the caller's configuration reaches it. */
export function startProgram(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): ChildProgram {
  if (file === carrel) assert(existsSync(join(root, 'dist/carrel.js')), 'dist/ is missing: npm run build makes it');
  const home = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  const child = spawn(process.execPath, [file, ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, CARREL_HOME: join(home, 'data'), ...env },
  });
  let stderr = '';
  const watchers = new Set<() => void>();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const look of watchers) look();
  });
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      rmSync(home, { recursive: true, force: true });
      for (const look of watchers) look();
      resolve(code);
    });
  });
  return {
    process: child,
    stderrText: () => stderr,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stderr);
          if (match) resolve(match);
          else if (child.exitCode !== null)
            reject(new Error(`ended (${child.exitCode}) without ${pattern}: ${stderr}`));
          else return;
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
    residentBytes() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
    },
    async stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

/** Starts it in HTTP mode and waits until it says where it listens (contract §1). */
export async function startListening(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<ListeningProgram> {
  const program = startProgram(
    file,
    [...args, '--transport', 'http', ...(file === carrel ? ['--port', '0'] : [])],
    env,
  );
  const [, url = ''] = await program.said(/^carrel: listening on (\S+)$/m);
  return { ...program, url };
}
