import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Owner } from '../fakes/loopback-server.ts';
import { type TextWatch, watchText } from './watch-text.ts';

export interface ChildProgram {
  readonly process: ChildProcessWithoutNullStreams;
  stderrText: TextWatch['text'];
  waitForOutput: TextWatch['waitForOutput'];
  /** Returns the current and the peak resident memory, in bytes. */
  memory(): { now: number; peak: number };
  openFiles(): number;
  /** Resolves with the exit code when the program exits. */
  readonly exited: Promise<number | null>;
  /** Stops the program and returns its exit code. */
  stop(): Promise<number | null>;
}

export interface ListeningProgram extends ChildProgram {
  readonly url: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
export const echoProgram = join(root, 'test/support/echo-program.ts');
export const carrelProgram = join(root, 'bin/carrel.js');

export interface ProgramFolders {
  /** The program's working directory. */
  folder: string;
  dataDir: string;
}

/** Programs share Node's compile cache: without one, a start takes 0.2 s more of CPU time. */
export const programCacheEnv = { XDG_CACHE_HOME: join(tmpdir(), `carrel-test-cache-${process.getuid?.()}`) };

mkdirSync(programCacheEnv.XDG_CACHE_HOME, { recursive: true, mode: 0o700 });

const running = new Set<ChildProcessWithoutNullStreams>();

// Kills programs that a failed test left running, because they would keep the test file from ending. Benchmarks stop theirs.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    for (const child of running) child.kill('SIGKILL');
  });
}

const listening = /^carrel: listening on (\S+)$/m;

/** Starts a program of this repository, without the environment of the calling process. */
export function startProgram(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
  folders?: ProgramFolders,
): ChildProgram {
  if (file === carrelProgram) assert(existsSync(join(root, 'dist/carrel.js')), 'dist/ is missing: run npm run build');
  const home = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  const { folder, dataDir } = folders ?? { folder: home, dataDir: join(home, 'data') };
  const cache = file === carrelProgram ? {} : sourceCacheEnv;
  const child = spawn(process.execPath, [file, ...args], { cwd: folder, env: cleanEnv(dataDir, { ...cache, ...env }) });
  running.add(child);
  const stderr = watchText(child.stderr);
  const exited = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      resolve(code);
    });
  });
  return {
    process: child,
    stderrText: stderr.text,
    waitForOutput: stderr.waitForOutput,
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

/** Starts a program in HTTP mode and waits until it prints its address. */
export async function startListening(
  file: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<ListeningProgram> {
  const program = startProgram(
    file,
    [...args, '--transport', 'http', ...(file === carrelProgram ? ['--port', '0'] : [])],
    env,
  );
  const [, url = ''] = await program.waitForOutput(listening);
  return { ...program, url };
}

export interface Carrel extends ListeningProgram, ProgramFolders {
  readonly origin: string;
}

export interface CarrelOptions extends Partial<ProgramFolders> {
  env?: Record<string, string>;
}

/** Starts the built program with HTTP, on a free port unless PORT is set. It is stopped when its owner (a test) ends. */
export async function startCarrel(t: Owner, args: readonly string[], options: CarrelOptions = {}): Promise<Carrel> {
  const folders = makeFolders(t, options);
  const allArgs = options.env?.['PORT'] ? args : [...args, '--port', '0'];
  const program = startForOwner(t, allArgs, options.env, folders);
  const [, url = ''] = await program.waitForOutput(listening);
  return { ...program, ...folders, url, origin: new URL(url).origin };
}

/** Runs the built program until it exits. */
export async function runCarrel(t: Owner, args: readonly string[], options: CarrelOptions = {}) {
  const folders = makeFolders(t, options);
  const { exited, stderrText } = startForOwner(t, args, options.env, folders);
  return { code: await exited, stderr: stderrText(), folder: folders.folder };
}

/** Creates a folder that is removed when its owner (a test) ends. */
export function makeFolder(t: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Settings that turn the models off, because loading them takes 1.5 s of CPU time. */
export const withoutModels = { EMBEDDING_PROVIDER: 'none', ENABLE_RERANKING: 'false' };

/**
 * Settings that turn the bundled models on, for tests of semantic search. The large time limit makes the order of results
 * independent of the machine: passages that the reranking model doesn't read in time come last. One thread, because each loads
 * the model.
 */
export const withModels = {
  ...{ EMBEDDING_PROVIDER: 'local', EMBEDDING_THREADS: '1' },
  ...{ ENABLE_RERANKING: 'true', RERANKING_BUDGET_MS: '60000' },
};

/** Returns an environment without the machine's own settings. */
export function cleanEnv(dataDir: string, env: Record<string, string> = {}): Record<string, string> {
  // `CARREL_ALONE`: a test's signals must reach the process that serves. Other tests cover sharing.
  const common = { HOME: dataDir, CARREL_HOME: dataDir, CARREL_ALONE: 'true', ...programCacheEnv };
  return { PATH: process.env['PATH'] ?? '', ...common, ...withoutModels, ...env };
}

/** Compile cache for TypeScript programs, which Node would otherwise compile at each start. */
export const sourceCacheEnv = { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/carrel-test') };

function makeFolders(
  t: Owner,
  { folder = makeFolder(t), dataDir = join(makeFolder(t), 'data') }: CarrelOptions,
): ProgramFolders {
  mkdirSync(folder, { recursive: true });
  return { folder, dataDir };
}

function startForOwner(
  t: Owner,
  args: readonly string[],
  env: Record<string, string> | undefined,
  folders: ProgramFolders,
) {
  const program = startProgram(carrelProgram, args, env, folders);
  t.after(async () => {
    program.process.kill('SIGKILL');
    await program.exited;
  });
  return program;
}
