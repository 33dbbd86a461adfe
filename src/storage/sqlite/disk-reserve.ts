import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import type { Operation } from '../dialect.ts';
import { changeDocuments, removeDocument } from '../documents/change-documents.ts';
import { cancelJob } from '../documents/job-queue.ts';
import { forgetJobs } from '../documents/jobs.ts';
import { releaseOriginals } from '../documents/originals.ts';
import { removeEntries } from '../entries/remove-entries.ts';
import { numberOf } from '../rows.ts';
import { dropVectors, forgetModel } from '../vectors/models.ts';
import type { Database } from './database.ts';
import { realDatabase } from './database-paths.ts';

/** A file that reserves disk space. A deletion writes to the log first, so on a full disk it needs the reserve. */
export interface DiskReserve {
  /** Reserves the space if the disk has enough left. */
  reserve(): void;
  /** Frees the reserved space for the database and shortens the log. Returns false if nothing was reserved. */
  release(database?: Database): boolean;
  /** Reserves the space again, so that on a full disk only deletions can use it. */
  regain(database: Database | undefined): void;
}

/** Size of the reserve: twice the usual length of the log (`wal_autocheckpoint`), for a checkpoint and for the deletion. */
const reserveBytes = 32 * 1024 * 1024;

/** Min free space before reserving, in multiples of the reserve. */
const freeFactor = 6;

export function createDiskReserve(databasePath: string): DiskReserve {
  // The database itself may be on another disk than a link to it.
  const path = realDatabase(databasePath);
  const file = `${path}-reserve`;
  const size = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return {
    reserve() {
      if (size() >= reserveBytes) return;
      try {
        const { bavail, bsize } = statfsSync(path);
        if (bavail * bsize >= reserveBytes * freeFactor) fill(file);
      } catch {
        // Ignored, because the database also works without a reserve.
      }
    },
    release(database) {
      const wasReserved = size() > 0;
      rmSync(file, { force: true });
      if (database !== undefined) shortenLog(database, path);
      return wasReserved;
    },
    regain(database) {
      if (database !== undefined) shortenLog(database, path);
      if (size() < reserveBytes) fill(file);
    },
  };
}

/** Operations that free space, although they have to write first. */
const removals = new Set<unknown>([
  ...[removeEntries, removeDocument, changeDocuments, releaseOriginals],
  ...[cancelJob, forgetJobs, forgetModel, dropVectors],
]);

export function freesSpace(operation: Operation<never, unknown>): boolean {
  return removals.has(operation);
}

/** Checkpoints the log, if the disk has space for the whole checkpoint. A partial checkpoint would only use up space. */
function shortenLog(database: Database, path: string): void {
  try {
    const pages = numberOf(database.get('PRAGMA page_count') ?? {}, 'page_count');
    const pageBytes = numberOf(database.get('PRAGMA page_size') ?? {}, 'page_size');
    const { bavail, bsize } = statfsSync(path);
    if (pages * pageBytes - statSync(path).size < bavail * bsize) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // A reader blocks the checkpoint, or there is no space. The log then keeps its length.
  }
}

/** Fills the file, unless the disk gets full. Some file systems allocate no space for zeros, so the bytes are random. */
function fill(file: string): void {
  const block = randomFillSync(Buffer.alloc(256 * 1024));
  try {
    const descriptor = openSync(file, 'w', 0o600);
    try {
      for (let written = 0; written < reserveBytes; ) written += writeSync(descriptor, block);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The disk is full. The file keeps the bytes written so far.
  }
}
