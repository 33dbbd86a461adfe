import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Owner } from '../fakes/loopback-server.ts';

const root = join(import.meta.dirname, '..', '..');
export const carrelProgram = join(root, 'bin', 'carrel.js');

export interface CarrelOptions {
  env?: Record<string, string>;
  /** The folder that it is started in; a fresh one unless given. */
  folder?: string;
  dataDir?: string;
}

export interface Carrel {
  /** Of the endpoint, as the program says it. */
  url: string;
  origin: string;
  folder: string;
  dataDir: string;
  process: ChildProcess;
  stderr(): string;
  stop(): Promise<number | null>;
}

/** A folder that is removed with its owner. */
export function makeFolder(t: Owner): string {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** The environment of a program that must see nothing of the machine's own settings. */
export function cleanEnv(dataDir: string, env: Record<string, string> = {}): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: dataDir, CARREL_HOME: dataDir, ...env };
}

/** Starts the built program with HTTP, on any free port unless PORT is given, and waits until it listens. */
export async function startCarrel(t: Owner, args: readonly string[], options: CarrelOptions = {}): Promise<Carrel> {
  const { child, folder, dataDir, stderr } = spawnCarrel(
    t,
    options.env?.['PORT'] ? args : [...args, '--port', '0'],
    options,
  );
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', () => {
      const found = /listening on (\S+)/.exec(stderr())?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`carrel ended with ${code}: ${stderr()}`)));
  });
  return {
    url,
    origin: new URL(url).origin,
    folder,
    dataDir,
    process: child,
    stderr,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
}

/** Runs the program until it ends by itself. */
export async function runCarrel(t: Owner, args: readonly string[], options: CarrelOptions = {}) {
  const { child, stderr, folder } = spawnCarrel(t, args, options);
  const [code] = await once(child, 'exit');
  return { code: Number(code), stderr: stderr(), folder };
}

function spawnCarrel(t: Owner, args: readonly string[], options: CarrelOptions) {
  assert(existsSync(join(root, 'dist', 'carrel.js')), 'dist/ is missing: npm run build makes it');
  const folder = options.folder ?? makeFolder(t);
  const dataDir = options.dataDir ?? join(makeFolder(t), 'data');
  mkdirSync(folder, { recursive: true });
  const child = spawn(process.execPath, [carrelProgram, ...args], {
    cwd: folder,
    env: cleanEnv(dataDir, options.env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  let wanted = false;
  child.once('exit', (code, signal) => {
    const isExpected = wanted || code === 0 || !/listening on/.test(text) || child.killed;
    if (!isExpected) process.stderr.write(`carrel ended by itself (${code ?? signal}): ${text}\n`);
  });
  t.after(async () => {
    wanted = true;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  return { child, folder, dataDir, stderr: () => text };
}
