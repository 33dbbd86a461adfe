import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { CarrelError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';

/** A client's configuration file on disk. */
export interface ConfigFile {
  readonly path: string;
  /** The path with symlinks resolved; the path itself if the file doesn't exist. */
  readonly target: string;
  readonly exists: boolean;
  readonly text: string;
  readonly hasBom: boolean;
  readonly mode: number;
}

/** Max bytes of a file. The limit is high, because Claude Code keeps its history in the same file. */
const bytesMax = 32 * 1024 * 1024;

/** Mode of new files. Only their owner may read them, because they may later contain keys. */
const newMode = 0o600;

/** Reads a file that this user owns and may change; throws otherwise. */
export function readConfigFile(path: string): ConfigFile {
  checkFolder(path);
  const link = fs.lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) {
    return { path, target: path, exists: false, text: '', hasBom: false, mode: newMode };
  }
  const target = link.isSymbolicLink() ? resolveLink(path) : path;
  const stat = fs.statSync(target);
  if (!stat.isFile())
    throw fileRefused(path, target === path ? 'is not a file' : `is a link to ${target}, which is not a file`);
  checkOwner(path, stat);
  if ((stat.mode & 0o222) === 0) throw fileRefused(path, 'is write-protected (chmod u+w makes it writable)');
  if (stat.size > bytesMax) throw fileRefused(path, `has more than ${bytesMax} bytes`);
  if (target !== path) checkFolder(target);
  const bytes = fs.readFileSync(target);
  try {
    // The decoder drops the byte order mark. `replaceFile` writes it back.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const hasBom = bytes.subarray(0, 3).equals(bom);
    return { path, target, exists: true, text, hasBom, mode: stat.mode & 0o7777 };
  } catch {
    throw fileRefused(path, 'is not valid UTF-8');
  }
}

const bom = Buffer.from([0xef, 0xbb, 0xbf]);

/** Saves a copy next to the file and returns its path. */
export function backUpFile({ path, target, mode }: ConfigFile, now: Date): string {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+Z/g, '');
  for (let count = 0; ; count += 1) {
    const copy = `${path}.carrel-${stamp}${count === 0 ? '' : `-${count}`}.bak`;
    try {
      fs.copyFileSync(target, copy, fs.constants.COPYFILE_EXCL);
      fs.chmodSync(copy, mode);
      return copy;
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    }
  }
}

/** Replaces the file's content atomically. Its mode stays the same, and a symlink stays a symlink. */
export function replaceFile(file: ConfigFile, text: string): void {
  const folder = dirname(file.target);
  makeFolder(folder);
  const bytes = Buffer.concat([...(file.hasBom ? [bom] : []), Buffer.from(text)]);
  const temporary = join(folder, `.${basename(file.target)}.${randomUUID()}.tmp`);
  try {
    const handle = fs.openSync(temporary, 'wx', newMode);
    try {
      fs.writeFileSync(handle, bytes);
      fs.fchmodSync(handle, file.mode);
      fs.fsyncSync(handle);
    } finally {
      fs.closeSync(handle);
    }
    checkUnchanged(file);
    fs.renameSync(temporary, file.target);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

/** Throws if the file has changed since it was read, because the client writes to it, too. */
function checkUnchanged({ path, target, exists, text }: ConfigFile): void {
  const now = fs.existsSync(target) ? new TextDecoder().decode(fs.readFileSync(target)) : undefined;
  if (now !== (exists ? text : undefined))
    throw fileRefused(path, 'was just changed by another program; run carrel init again');
}

function resolveLink(path: string): string {
  try {
    return fs.realpathSync(path);
  } catch (error) {
    throw fileRefused(path, isCode(error, 'ELOOP') ? 'is a link to itself' : 'is a broken link');
  }
}

function checkOwner(path: string, { uid }: fs.Stats): void {
  const currentUser = process.getuid?.();
  if (currentUser !== undefined && uid !== currentUser) throw fileRefused(path, 'belongs to another user');
}

/** Checks that this user owns the nearest existing parent folder. Another owner could read new files in it. */
function checkFolder(path: string): void {
  let folder = dirname(path);
  let stat = statOf(folder);
  while (stat === undefined && folder !== dirname(folder)) {
    folder = dirname(folder);
    stat = statOf(folder);
  }
  if (stat?.isDirectory() !== true) throw fileRefused(folder, 'is not a folder');
  checkOwner(folder, stat);
}

/** Returns undefined if the path doesn't exist or one of its parents isn't a folder. */
function statOf(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path);
  } catch {
    return undefined;
  }
}

function fileRefused(path: string, problem: string): CarrelError {
  return new CarrelError('invalid_config', `${path} ${problem}. Nothing was changed.`);
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
