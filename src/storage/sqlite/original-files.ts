import { createHash, type Hash, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, linkSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskError, moveFileSync, syncFileSync, syncFolderSync, writeNewFile } from '../../base/durable-files.ts';
import { CarrelError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import type { OpenedOriginal, StagedOriginal, StageOptions } from '../contracts/ingestion.ts';

/**
 * Originals as files `<folder>/<hash>`, beside the database. Bytes are first written to a file of their own in
 * `<folder>/incoming` and brought to disk; the transaction that accepts them moves the file to its name. Only a
 * transaction ever removes a file under its hash, so that nobody who refers to it can lose it.
 */
export interface OriginalFiles {
  stage(content: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedOriginal>;
  discard(staged: StagedOriginal): Promise<void>;
  open(hash: string): Promise<OpenedOriginal | undefined>;
  /** The hashes of all files there are; forgets staged files that nobody has touched for a day. */
  list(): string[];
}

const incoming = 'incoming';
const stagedMaxMs = 24 * 60 * 60_000;

export function createOriginalFiles(folder: string): OriginalFiles {
  return {
    async stage(content, options) {
      const id = randomUUID();
      const hash = createHash('sha256');
      try {
        makeFolders(folder);
        const bytes = await writeNewFile(stagedPath(folder, id), measured(content, hash, options));
        return { id, hash: hash.digest('hex'), bytes };
      } catch (error) {
        throw diskError(error);
      }
    },
    async discard({ id }) {
      await rm(stagedPath(folder, id), { force: true });
    },
    async open(hash) {
      const path = join(folder, hash);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined) return undefined;
      return { bytes: found.size, content: read(path) };
    },
    list() {
      for (const name of namesIn(join(folder, incoming))) {
        const path = stagedPath(folder, name);
        const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
        if (age > stagedMaxMs) rmSync(path, { force: true });
      }
      return originalsIn(folder);
    },
  };
}

/** On the thread that writes, within its transaction: a name is on disk before the row that refers to it is. */
export function adoptFile(folder: string, { id, hash }: StagedOriginal): void {
  moveFileSync(stagedPath(folder, id), join(folder, hash));
}

export function removeFile(folder: string, hash: string): void {
  rmSync(join(folder, hash), { force: true });
}

export function originalsIn(folder: string): string[] {
  return namesIn(folder).filter((name) => /^[0-9a-f]{64}$/.test(name));
}

/** Gives a new folder these files of another one, which keeps them: they may be another database's as well. All or none. */
export function takeOver(hashes: readonly string[], from: string, to: string): void {
  const unfinished = `${to}-${randomUUID()}`;
  try {
    makeFolder(unfinished);
    for (const hash of hashes) linkOrCopy(join(from, hash), join(unfinished, hash));
    syncFolderSync(unfinished);
    renameSync(unfinished, to);
    syncFolderSync(dirname(to));
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another process that starts at the same time may have been first.
    if (!existsSync(to)) throw diskError(error);
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // On another disk, or one without hard links.
    copyFileSync(from, to);
    syncFileSync(to);
  }
}

/** A folder that was just made is on disk when the one above it is. */
function makeFolders(folder: string): void {
  const path = join(folder, incoming);
  if (existsSync(path)) return;
  makeFolder(path);
  syncFolderSync(folder);
  syncFolderSync(dirname(folder));
}

function stagedPath(folder: string, id: string): string {
  return join(folder, incoming, id);
}

/** Counts and hashes what passes. */
async function* measured(
  content: AsyncIterable<Uint8Array>,
  hash: Hash,
  { bytesMax, signal }: StageOptions,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of content) {
    signal?.throwIfAborted();
    bytes += part.byteLength;
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    hash.update(part);
    yield part;
  }
}

async function* read(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  try {
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function tooLarge(bytesMax: number): CarrelError {
  return new CarrelError(
    'too_large',
    `The file is larger than ${bytesMax} bytes, the limit. Split it, or raise KB_FILE_BYTES_MAX.`,
    {
      data: { bytesMax },
    },
  );
}
