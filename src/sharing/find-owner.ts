import type { ChildProcess } from 'node:child_process';
import { isPrivateFolder, type OwnerPlace, readAnnouncement } from './owner-place.ts';
import { type Link, reachOwner } from './reach-owner.ts';

/** The variable that makes a process the owner for the clients of several relays. It names its place. */
export const ownerVariable = 'CARREL_OWNER_PLACE';

/**
 * What an owner tells the relay that started it, as a line on stdout. `ready`: it can be reached. `other`: another one was
 * faster. `alone`: these settings, or this machine, are not for sharing.
 */
export type OwnerWord = 'ready' | 'other' | 'alone';

export type Found =
  | { kind: 'link'; link: Link }
  /** This client can't share, and nothing is wrong. */
  | { kind: 'alone'; remark?: string }
  /** The owner did not start; it has said why. */
  | { kind: 'failed'; code: number };

export interface OwnerFinder {
  /** Finds the owner, or starts one. */
  find(): Promise<Found>;
  /** Ends an owner that is still starting. */
  stop(): void;
}

const findMs = 60_000;
/** One may be killed while it starts, or have ended before it was reached; not again and again. */
const startsMax = 5;

export function createOwnerFinder(
  place: OwnerPlace,
  argv: readonly string[],
  client: string,
  tell = (bytes: Buffer): unknown => process.stderr.write(bytes),
): OwnerFinder {
  let starting: ChildProcess | undefined;

  return {
    async find() {
      const deadline = Date.now() + findMs;
      for (let starts = 0; starts < startsMax && Date.now() < deadline; starts += 1) {
        const announced = isPrivateFolder(place.folder) === true ? readAnnouncement(place.announcement) : undefined;
        const reached = announced && (await reachOwner(announced, client));
        if (typeof reached === 'object') return { kind: 'link', link: reached };
        if (reached === 'elsewhere') return { kind: 'alone' };
        if (reached === 'silent') break;
        const outcome = await startOwner(place, argv, tell, (child) => {
          starting = child;
        });
        starting = undefined;
        if (typeof outcome === 'number') return { kind: 'failed', code: outcome };
        if (outcome === 'alone') return { kind: 'alone' };
      }
      return { kind: 'alone', remark: 'serving one client alone: the process that serves others does not answer' };
    },
    stop() {
      starting?.kill('SIGTERM');
    },
  };
}

/** Starts an owner that outlives this process, and returns its first word or, if it ended without one, how. */
async function startOwner(
  place: OwnerPlace,
  argv: readonly string[],
  tell: (bytes: Buffer) => unknown,
  started: (child: ChildProcess) => void,
): Promise<OwnerWord | number | 'killed'> {
  // Most relays find an owner, and need not load this.
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', ...argv], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, [ownerVariable]: JSON.stringify(place) },
    });
    started(child);
    child.stderr.on('data', tell);
    child.stdout.setEncoding('utf8').once('data', (text: string) => {
      const word = text.trim() as OwnerWord;
      child.unref();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(word);
    });
    child.once('error', () => resolve('alone'));
    // It logs why it exits; a killed process cannot.
    child.once('close', (code) => resolve(code ?? 'killed'));
  });
}
