import type { ChildProcess } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isObject } from '../base/json.ts';
import { dataDirOf } from '../config/data-dir.ts';
import { isPrivateFolder, type OwnerFiles, ownerFolder, readAnnouncement } from './owner-files.ts';
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

export type FindOutcome =
  | { kind: 'link'; link: Link }
  /** This client can't share a process and must be served alone. Not an error. */
  | { kind: 'alone'; remark?: string }
  /** The owner failed to start and has logged why. */
  | { kind: 'failed'; code: number };

export interface OwnerFinder {
  /** Finds the owner, or starts one. */
  find(): Promise<FindOutcome>;
  /** Stops an owner that is still starting. */
  stop(): void;
}

export interface OwnerLocation {
  /** The folder with the announcements of owners. */
  readonly folder: string;
  /** Absolute paths of the data folder and, if one is named, of the configuration file. */
  readonly paths: readonly (string | undefined)[];
}

/** Returns where to look for an owner. Undefined if the flags or settings rule out sharing, or are invalid. */
export function ownerLocation(flags: Readonly<Record<string, unknown>>): OwnerLocation | undefined {
  const { config, 'data-dir': dataDirFlag } = flags;
  // A flag without its value.
  if (typeof config === 'boolean' || typeof dataDirFlag === 'boolean') return undefined;
  try {
    const paths = settingPaths(flags);
    const [dataDir, configFile] = paths;
    // A pipe such as /dev/fd/63 can be read only once, so the owner could not read it.
    if (configFile !== undefined && !statSync(configFile).isFile()) return undefined;
    if (forbidsSharing(configFile ?? join(dataDir, 'config.json'))) return undefined;
    return { folder: ownerFolder(dataDir, process.env), paths };
  } catch {
    // The full program reports the problem.
    return undefined;
  }
}

/** Returns the absolute paths of the data folder and, if one is named, of the configuration file. */
export function settingPaths(flags: Readonly<Record<string, unknown>>): [dataDir: string, config: string | undefined] {
  const { config, 'data-dir': dataDir } = flags;
  const dataDirFlag = typeof dataDir === 'string' ? dataDir : undefined;
  return [dataDirOf(dataDirFlag, process.env), typeof config === 'string' ? resolve(config) : undefined];
}

/**
 * True if the configuration file forbids sharing. False if the environment sets CARREL_ALONE, which takes precedence. Checked
 * here because an owner would load the whole program only to find out.
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

const findTimeoutMs = 60_000;
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
      const deadline = Date.now() + findTimeoutMs;
      for (let starts = 0; starts < startsMax && Date.now() < deadline; starts += 1) {
        const announced = isPrivateFolder(files.folder) === true ? readAnnouncement(files.announcement) : undefined;
        const reply = announced && (await reachOwner(announced, client));
        if (typeof reply === 'object') return { kind: 'link', link: reply };
        if (reply === 'elsewhere') return { kind: 'alone' };
        if (reply === 'silent') break;
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

/** Saves 40 to 70 MB: by default, Node.js lets more garbage accumulate in a busy process. */
const memoryFlag = '--max-semi-space-size=16';

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
    const flags = [...process.execArgv, memoryFlag];
    const child = spawn(process.execPath, [...flags, process.argv[1] ?? '', ...argv], {
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
