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
import { realDatabase } from './database-files.ts';

/**
 * Disk space reserved as a file next to the database. Deleting writes to the log first, so without it nothing could be deleted
 * on a full disk.
 */
export interface DiskReserve {
  /** Reserves the space if the disk has plenty. */
  hold(): void;
  /** Releases the space to the database and shortens the log. False: nothing was reserved. */
  release(database?: Database): boolean;
  /** Reserves free space again before other writes use it: only deletions may continue. */
  regain(database: Database | undefined): void;
}

/** Space to write back a log of the usual length (`wal_autocheckpoint`), and as much again for the deletion itself. */
const reserveBytes = 32 * 1024 * 1024;

/** Min free space, in multiples of the reserve. */
const plenty = 6;

export function createDiskReserve(given: string): DiskReserve {
  // A link may point to another disk.
  const path = realDatabase(given);
  const file = `${path}-reserve`;
  const size = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return {
    hold() {
      if (size() >= reserveBytes) return;
      try {
        const { bavail, bsize } = statfsSync(path);
        if (bavail * bsize >= reserveBytes * plenty) fill(file);
      } catch {
        // The reserve is optional.
      }
    },
    release(database) {
      const isHeld = size() > 0;
      rmSync(file, { force: true });
      if (database !== undefined) shortenLog(database, path);
      return isHeld;
    },
    regain(database) {
      if (database !== undefined) shortenLog(database, path);
      if (size() < reserveBytes) fill(file);
    },
  };
}

/** Operations that free space in the end, although they write first. */
const removals = new Set<unknown>([
  ...[removeEntries, removeDocument, changeDocuments, releaseOriginals],
  ...[cancelJob, forgetJobs, forgetModel, dropVectors],
]);

export function makesRoom(operation: Operation<never, unknown>): boolean {
  return removals.has(operation);
}

/** Checkpoints the log if the file has room for it; half a checkpoint would only use up space. */
function shortenLog(database: Database, path: string): void {
  try {
    const pages = numberOf(database.get('PRAGMA page_count') ?? {}, 'page_count');
    const pageBytes = numberOf(database.get('PRAGMA page_size') ?? {}, 'page_size');
    const { bavail, bsize } = statfsSync(path);
    if (pages * pageBytes - statSync(path).size < bavail * bsize) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // A reader blocks it, or the space is gone: the log keeps its length.
  }
}

/** Fills the file as far as there is space. Not with zeros: some file systems allocate no space for them. */
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
    // The disk is full: the file keeps what was written.
  }
}
