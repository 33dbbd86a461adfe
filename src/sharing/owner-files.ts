import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isObject } from '../base/json.ts';
import { makeFolder, namesIn } from '../base/make-folder.ts';

/** The files of an owner, the shared process that serves several stdio clients. */
export interface OwnerFiles {
  readonly folder: string;
  /** The file with the owner's process id, socket and secret. */
  readonly announcement: string;
}

export interface Announcement {
  pid: number;
  socket: string;
  secret: string;
  role: string;
  version: string;
  startedAt: string;
  /** This process may answer commands with the same key; see `commandKey`. */
  commandKey?: string | undefined;
}

/** Max bytes of a socket path: macOS allows 104, Linux 108, including the final zero. */
const socketPathBytesMax = 103;
const keyChars = 20;
const suffixCharsMax = '-12345678.sock'.length;

/** Returns the folder for sockets: in the data folder or, if that path is too long, in the user's runtime folder. */
export function ownerFolder(dataDir: string, env: Readonly<Record<string, string | undefined>>): string {
  const inDataDir = join(dataDir, 'run');
  const isShort = Buffer.byteLength(inDataDir) + 1 + keyChars + suffixCharsMax <= socketPathBytesMax;
  if (isShort) return inDataDir;
  const { XDG_RUNTIME_DIR: runtimeDir } = env;
  return runtimeDir ? join(runtimeDir, 'carrel') : join(tmpdir(), `carrel-${process.getuid?.()}`);
}

export function ownerFiles(folder: string, processKey: string): OwnerFiles {
  const name = processKey.slice(0, keyChars);
  return { folder, announcement: join(folder, `${name}.json`) };
}

/** False if other users can access the folder, and so read messages or pose as the owner. Undefined if it doesn't exist. */
export function isPrivateFolder(folder: string): boolean | undefined {
  let stats: Stats;
  try {
    stats = lstatSync(folder);
  } catch {
    return undefined;
  }
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
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

/** Returns all announced owners, of any version and settings. */
export function announcedOwners(folder: string): { file: string; announcement: Announcement }[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const file = join(folder, name);
      const announcement = readAnnouncement(file);
      return announcement === undefined ? [] : [{ file, announcement }];
    });
}

/** Creates the folder, a socket path and a secret for this process. */
export function prepareAnnouncement(
  files: OwnerFiles,
  about: Pick<Announcement, 'role' | 'version' | 'commandKey'>,
): Announcement {
  makeFolder(files.folder);
  if (isPrivateFolder(files.folder) !== true)
    throw new Error(`other users can access ${files.folder}: its mode must be 0700`);
  const socket = files.announcement.replace(/\.json$/, `-${process.pid}.sock`);
  if (Buffer.byteLength(socket) > socketPathBytesMax)
    throw new Error(`the socket path ${socket} is too long: choose a shorter data folder (--data-dir)`);
  // The socket may be left by a killed process with the same pid.
  rmSync(socket, { force: true });
  return {
    ...about,
    pid: process.pid,
    socket,
    secret: randomBytes(32).toString('hex'),
    startedAt: new Date().toISOString(),
  };
}

/** Announces this process as the owner. Returns false if another running owner was faster. */
export async function announce(files: OwnerFiles, announcement: Announcement): Promise<boolean> {
  const draft = `${files.announcement}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(announcement), { mode: 0o600 });
  try {
    linkSync(draft, files.announcement);
    return true;
  } catch {
    const other = readAnnouncement(files.announcement);
    if (other !== undefined && (await isListening(other.socket))) return false;
    // If two processes replace a dead owner at the same time, the later one is announced. The other serves until its clients leave.
    renameSync(draft, files.announcement);
    return true;
  } finally {
    rmSync(draft, { force: true });
  }
}

export function withdraw(files: OwnerFiles, { socket }: Announcement): void {
  if (readAnnouncement(files.announcement)?.socket === socket) rmSync(files.announcement, { force: true });
  rmSync(socket, { force: true });
}

/** Removes files of killed processes. Tries to connect to the socket, because pids differ between containers. */
export async function sweep(folder: string): Promise<void> {
  const isDead = async (socket: string): Promise<boolean> => !(await isListening(socket));
  for (const { file, announcement } of announcedOwners(folder)) {
    if (await isDead(announcement.socket)) rmSync(file, { force: true });
  }
  for (const name of namesIn(folder).filter((each) => each.endsWith('.sock'))) {
    if (await isDead(join(folder, name))) rmSync(join(folder, name), { force: true });
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
