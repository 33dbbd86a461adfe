import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../base/json.ts';
import { makeFolder } from '../base/make-folder.ts';

/** Where a process that serves several clients is found. */
export interface OwnerPlace {
  readonly folder: string;
  /** Says who the owner is, how to reach it and the secret that it expects. */
  readonly announcement: string;
}

export interface Announcement {
  pid: number;
  socket: string;
  secret: string;
  role: string;
  version: string;
  startedAt: string;
  /** Commands with this key may ask it (`commandKey`). */
  commandKey?: string | undefined;
}

/** The system keeps the path of a socket in 104 bytes on macOS, in 108 on Linux, with a zero at the end. */
const socketPathBytesMax = 103;
const keyChars = 20;
const suffixCharsMax = '-12345678.sock'.length;

/** The folder for sockets: in the data folder, or where the system has one for this user if that path is too long. */
export function ownerFolder(dataDir: string, env: Readonly<Record<string, string | undefined>>): string {
  const inDataDir = join(dataDir, 'run');
  const isShort = Buffer.byteLength(inDataDir) + 1 + keyChars + suffixCharsMax <= socketPathBytesMax;
  if (isShort) return inDataDir;
  const { XDG_RUNTIME_DIR: runtimeDir } = env;
  return runtimeDir ? join(runtimeDir, 'carrel') : join(tmpdir(), `carrel-${process.getuid?.()}`);
}

export function ownerPlace(folder: string, processKey: string): OwnerPlace {
  const name = processKey.slice(0, keyChars);
  return { folder, announcement: join(folder, `${name}.json`) };
}

/** Somebody else who may write there could read along, or pose as the owner. Undefined: the folder does not exist. */
export function isPrivateFolder(folder: string): boolean | undefined {
  let found: Stats;
  try {
    found = lstatSync(folder);
  } catch {
    return undefined;
  }
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

export function readAnnouncement(file: string): Announcement | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isAnnouncement(content) ? content : undefined;
  } catch {
    return undefined;
  }
}

function isAnnouncement(value: unknown): value is Announcement {
  const texts = ['socket', 'secret', 'role', 'version', 'startedAt'];
  return isObject(value) && typeof value['pid'] === 'number' && texts.every((name) => typeof value[name] === 'string');
}

/** All owners that are announced in the folder, of any version and with any settings. */
export function announcedOwners(folder: string): { file: string; announcement: Announcement }[] {
  return list(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const file = join(folder, name);
      const announcement = readAnnouncement(file);
      return announcement === undefined ? [] : [{ file, announcement }];
    });
}

/** Makes the folder, and a socket's path and a secret for this process. */
export function prepareAnnouncement(
  place: OwnerPlace,
  about: Pick<Announcement, 'role' | 'version' | 'commandKey'>,
): Announcement {
  makeFolder(place.folder);
  if (isPrivateFolder(place.folder) !== true) throw new Error(`${place.folder} is not private`);
  const socket = place.announcement.replace(/\.json$/, `-${process.pid}.sock`);
  if (Buffer.byteLength(socket) > socketPathBytesMax) throw new Error(`${socket} is too long`);
  // A process with the same id may have been killed.
  rmSync(socket, { force: true });
  return {
    ...about,
    pid: process.pid,
    socket,
    secret: randomBytes(32).toString('hex'),
    startedAt: new Date().toISOString(),
  };
}

/** False: another owner, which is alive, was faster. */
export async function announce(place: OwnerPlace, announcement: Announcement): Promise<boolean> {
  const draft = `${place.announcement}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(announcement), { mode: 0o600 });
  try {
    linkSync(draft, place.announcement);
    return true;
  } catch {
    const other = readAnnouncement(place.announcement);
    if (other !== undefined && (await isListening(other.socket))) return false;
    // Should two replace a dead one at the same time, both serve: the one whose file was replaced until its clients go.
    renameSync(draft, place.announcement);
    return true;
  } finally {
    rmSync(draft, { force: true });
  }
}

export function withdraw(place: OwnerPlace, { socket }: Announcement): void {
  if (readAnnouncement(place.announcement)?.socket === socket) rmSync(place.announcement, { force: true });
  rmSync(socket, { force: true });
}

/** Removes what killed processes left. The test is the socket: a process id means nothing in another container. */
export async function sweep(folder: string): Promise<void> {
  const dead = async (socket: string): Promise<boolean> => !(await isListening(socket));
  for (const { file, announcement } of announcedOwners(folder)) {
    if (await dead(announcement.socket)) rmSync(file, { force: true });
  }
  for (const name of list(folder).filter((each) => each.endsWith('.sock'))) {
    if (await dead(join(folder, name))) rmSync(join(folder, name), { force: true });
  }
}

function isListening(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
