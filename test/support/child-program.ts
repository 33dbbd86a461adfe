import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TextWatch, watchText } from './watch-text.ts';

export interface ChildProgram {
  readonly process: ChildProcessWithoutNullStreams;
  stderrText: TextWatch['text'];
  said: TextWatch['said'];
  /** Resident memory in bytes: now, and at its highest so far. */
  memory(): { now: number; peak: number };
  openFiles(): number;
  /** The exit code, once it has ended. */
  readonly exited: Promise<number | null>;
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
  const stderr = watchText(child.stderr);
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      rmSync(home, { recursive: true, force: true });
      resolve(code);
    });
  });
  return {
    process: child,
    stderrText: stderr.text,
    said: stderr.said,
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const bytes = (field: string): number =>
        Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
      return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
    },
    exited,
    openFiles: () => readdirSync(`/proc/${child.pid}/fd`).length,
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
