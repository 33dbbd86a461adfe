import { randomUUID } from 'node:crypto';
import { existsSync, rmSync, statSync } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskError, moveFileSync, syncFolderSync, writeNewFile } from '../../base/durable-files.ts';
import { makeFolder, namesIn } from '../../base/make-folder.ts';
import type { StagedOriginal } from '../dialect.ts';
import { createRelease, measureContent, type OriginalStore } from '../documents/originals.ts';
import type { Transactions } from '../transactions.ts';

const incoming = 'incoming';
const stagedMaxMs = 24 * 60 * 60_000;

/**
 * Stores originals as files `<folder>/<hash>`, next to the database. Bytes are first written and synced to a file in
 * `<folder>/incoming`; the transaction that accepts them renames the file. Only transactions remove files of accepted
 * originals, so a document cannot lose its bytes.
 */
export function createOriginals(folder: string, transactions: Transactions): OriginalStore {
  return {
    async stage(content, options) {
      const id = randomUUID();
      const original = measureContent(content, options);
      try {
        makeFolders(folder);
        await writeNewFile(stagedPath(folder, id), original.content);
        return { id, ...original.result() };
      } catch (error) {
        throw diskError(error);
      }
    },
    async discard({ id }) {
      await rm(stagedPath(folder, id), { force: true });
    },
    async open(hash) {
      const path = join(folder, hash);
      const stats = await stat(path).catch(() => undefined);
      return stats && { bytes: stats.size, content: read(path) };
    },
    ...createRelease(transactions, async () => listFiles(folder)),
  };
}

/** Returns the hashes of all originals. Also removes staged files that are more than a day old. */
function listFiles(folder: string): string[] {
  for (const name of namesIn(join(folder, incoming))) {
    const path = stagedPath(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > stagedMaxMs) rmSync(path, { force: true });
  }
  return namesIn(folder).filter((name) => /^[0-9a-f]{64}$/.test(name));
}

/** Renames a staged file. Runs within the transaction that accepts it: the file must have its final name before the commit. */
export function adoptFile(folder: string, { id, hash }: StagedOriginal): void {
  moveFileSync(stagedPath(folder, id), join(folder, hash));
}

export function removeFile(folder: string, hash: string): void {
  rmSync(join(folder, hash), { force: true });
}

/** Creates the folders and makes them durable, which requires syncing their parents. */
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

async function* read(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r');
  try {
    yield* file.createReadStream({ autoClose: false });
  } finally {
    await file.close();
  }
}
