import type { ChildProcess } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameKinds,
  type Hello,
  type Refusal,
  type Welcome,
} from './frames.ts';
import { isPrivateFolder, type OwnerPlace, readAnnouncement } from './owner-place.ts';

/** The variable that makes a process the owner for the clients of several relays. It names its place. */
export const ownerVariable = 'CARREL_OWNER_PLACE';

/**
 * What an owner tells the relay that started it, as a line on stdout. `ready`: it can be reached. `other`: another one was
 * faster. `alone`: these settings, or this machine, are not for sharing.
 */
export type OwnerWord = 'ready' | 'other' | 'alone';

/** A connection to a process that has said it will serve this client. */
export interface Link {
  socket: Socket;
  welcome: Welcome;
  /** Hands all frames since the welcome to `take`, and calls `gone` when the connection is over. */
  listen(take: (frame: Frame) => void, gone: () => void): void;
}

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

/** An owner answers in milliseconds, unless it is stopped or the machine is overloaded. */
const answerMs = 10_000;
const findMs = 60_000;
/** One may be killed while it starts, or have ended before it was reached; not again and again. */
const startsMax = 5;

export function createOwnerFinder(place: OwnerPlace, argv: readonly string[], client: string): OwnerFinder {
  let starting: ChildProcess | undefined;

  return {
    async find() {
      const deadline = Date.now() + findMs;
      for (let starts = 0; starts < startsMax && Date.now() < deadline; starts += 1) {
        const reached = await reach(place, client);
        if (typeof reached === 'object') return { kind: 'link', link: reached };
        if (reached === 'elsewhere') return { kind: 'alone' };
        if (reached === 'silent') break;
        const outcome = await startOwner(place, argv, (child) => {
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

/** `silent`: somebody listens, and says nothing. Undefined: there is nobody. */
async function reach(place: OwnerPlace, client: string): Promise<Link | Refusal | 'silent' | undefined> {
  if (isPrivateFolder(place.folder) !== true) return undefined;
  const announced = readAnnouncement(place.announcement);
  if (announced === undefined) return undefined;
  const { socket: path, secret } = announced;
  return new Promise((resolve) => {
    const early: Frame[] = [];
    let take = (frame: Frame): void => void early.push(frame);
    let gone: (() => void) | undefined;
    let isGone = false;
    let link: Link | undefined;
    const socket = connect(path);
    const impatience = setTimeout(() => {
      resolve('silent');
      socket.destroy();
    }, answerMs);
    const read = createFrameReader(
      () => Number.POSITIVE_INFINITY,
      (frame) => {
        if (link) {
          take(frame);
          return;
        }
        clearTimeout(impatience);
        if (frame.kind !== frameKinds.welcome) {
          resolve(frame.bytes.toString() as Refusal);
          socket.destroy();
          return;
        }
        link = {
          socket,
          welcome: JSON.parse(frame.bytes.toString()),
          listen(taker, whenGone) {
            take = taker;
            gone = whenGone;
            for (const each of early.splice(0)) take(each);
            if (isGone) gone();
          },
        };
        resolve(link);
      },
    );
    socket.once('connect', () => {
      const hello: Hello = { secret, wants: 'service', client, folder: process.cwd() };
      socket.write(encodeFrame(frameKinds.hello, 0, JSON.stringify(hello)));
    });
    socket.on('data', read);
    // `close` follows.
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(impatience);
      isGone = true;
      resolve(undefined);
      gone?.();
    });
  });
}

/** Starts an owner that outlives this process, and returns its first word or, if it ended without one, how. */
async function startOwner(
  place: OwnerPlace,
  argv: readonly string[],
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
    child.stderr.on('data', (bytes) => process.stderr.write(bytes));
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
