import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isObject } from '../base/json.ts';
import { isPrivateFolder, type OwnerFiles, readAnnouncement } from './owner-files.ts';
import { type Link, reachOwner } from './reach-owner.ts';

/**
 * Environment variable that makes a process the owner: the shared process that serves several stdio clients. Its value is
 * `OwnerFiles` as JSON.
 */
export const ownerVariable = 'CARREL_OWNER_FILES';

/**
 * An owner's first line on stdout, for the relay that started it. (A relay is a client's own process, which passes lines to
 * the owner.) `ready`: relays can connect. `other`: another owner was faster. `alone`: sharing is impossible with these
 * settings or on this machine.
 */
export type OwnerState = 'ready' | 'other' | 'alone';

export type Found =
  | { kind: 'link'; link: Link }
  /** This client can't share a process and must be served alone. Not an error. */
  | { kind: 'alone'; remark?: string }
  /** The owner failed to start and has logged why. */
  | { kind: 'failed'; code: number };

export interface OwnerFinder {
  /** Finds the owner, or starts one. */
  find(): Promise<Found>;
  /** Stops an owner that is still starting. */
  stop(): void;
}

/**
 * True if the configuration file forbids sharing. False if the environment sets CARREL_ALONE, which takes precedence. Checked
 * before an owner is started, because that would load the whole program only to print `alone`.
 */
export function forbidsSharing(configFile: string): boolean {
  if (process.env['CARREL_ALONE']?.trim()) return false;
  try {
    const config: unknown = JSON.parse(readFileSync(configFile, 'utf8'));
    const sharing = isObject(config) ? config['sharing'] : undefined;
    return isObject(sharing) && sharing['alone'] === true;
  } catch {
    // The full program reports a faulty file.
    return false;
  }
}

const findMs = 60_000;
/** Max attempts: an owner may be killed while starting, or exit before it is reached. */
const startsMax = 5;

export function createOwnerFinder(
  files: OwnerFiles,
  argv: readonly string[],
  client: string,
  print = (bytes: Buffer): unknown => process.stderr.write(bytes),
): OwnerFinder {
  let starting: ChildProcess | undefined;

  return {
    async find() {
      const deadline = Date.now() + findMs;
      for (let starts = 0; starts < startsMax && Date.now() < deadline; starts += 1) {
        const announced = isPrivateFolder(files.folder) === true ? readAnnouncement(files.announcement) : undefined;
        const reached = announced && (await reachOwner(announced, client));
        if (typeof reached === 'object') return { kind: 'link', link: reached };
        if (reached === 'elsewhere') return { kind: 'alone' };
        if (reached === 'silent') break;
        const outcome = await startOwner(files, argv, print, (child) => {
          starting = child;
        });
        starting = undefined;
        if (typeof outcome === 'number') return { kind: 'failed', code: outcome };
        if (outcome === 'alone') return { kind: 'alone' };
      }
      return { kind: 'alone', remark: 'not sharing: the process that serves other clients does not answer' };
    },
    stop() {
      starting?.kill('SIGTERM');
    },
  };
}

/** Starts an owner that outlives this process. Returns its first line, or its exit code, or `killed`. */
async function startOwner(
  files: OwnerFiles,
  argv: readonly string[],
  print: (bytes: Buffer) => unknown,
  started: (child: ChildProcess) => void,
): Promise<OwnerState | number | 'killed'> {
  // Imported on demand: most relays find a running owner.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...argv], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [ownerVariable]: JSON.stringify(files) },
    });
    started(child);
    child.stderr.on('data', print);
    child.stdout.setEncoding('utf8').once('data', (text: string) => {
      const word = text.trim() as OwnerState;
      child.unref();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(word);
    });
    child.once('error', () => resolve('alone'));
    // An owner logs why it exits; a killed process cannot.
    child.once('close', (code) => resolve(code ?? 'killed'));
  });
}
