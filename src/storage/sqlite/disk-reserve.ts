import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import type { Operation } from '../dialect.ts';
import { changeDocuments, removeDocument } from '../documents/change-documents.ts';
import { releaseOriginals } from '../documents/contents.ts';
import { cancelJob, forgetJobs } from '../documents/jobs.ts';
import { removeEntries } from '../entries/remove-entries.ts';
import { numberOf } from '../rows.ts';
import { dropVectors, forgetModel } from '../vectors/models.ts';
import type { Database } from './database.ts';
import { realDatabase } from './database-files.ts';

/**
 * Space kept for the day when the disk is full, as a file beside the database. Removing something writes to the log first, so
 * without it nothing could be removed on a full disk.
 */
export interface DiskReserve {
  /** Takes the room, where the disk has plenty. */
  hold(): void;
  /** Gives it to the database, once open with what its log takes. False: none was held. */
  release(database?: Database): boolean;
  /** Takes what there is again, before others do: they could store something where only removing may go on. */
  regain(database: Database | undefined): void;
}

/** What a log of its usual length adds to the database (`wal_autocheckpoint`), and as much again for the removal's own. */
const reserveBytes = 32 * 1024 * 1024;

/** A disk with less than this many times the reserve is left alone: there it would be missed. */
const plenty = 6;

export function createDiskReserve(given: string): DiskReserve {
  // A link may lead to another disk.
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
        // Of use some day, needed for nothing now.
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

/** Operations that make room in the end, though they write first. */
const removals = new Set<unknown>([
  ...[removeEntries, removeDocument, changeDocuments, releaseOriginals],
  ...[cancelJob, forgetJobs, forgetModel, dropVectors],
]);

export function makesRoom(operation: Operation<never, unknown>): boolean {
  return removals.has(operation);
}

/** Brings the log into the database, if what that adds to the file finds room; half of it would only take the room away. */
function shortenLog(database: Database, path: string): void {
  try {
    const pages = numberOf(database.get('PRAGMA page_count') ?? {}, 'page_count');
    const pageBytes = numberOf(database.get('PRAGMA page_size') ?? {}, 'page_size');
    const { bavail, bsize } = statfsSync(path);
    if (pages * pageBytes - statSync(path).size < bavail * bsize) database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // Somebody reads, or took the room: the log stays as long as it is.
  }
}

/** As far as there is room. Not with zeros, for which some file systems take none. */
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
    // The disk is full: what could be had is held.
  }
}
