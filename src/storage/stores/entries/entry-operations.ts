import type { Dialect } from '../../dialect.ts';
import type { OperationRunner } from '../../operations.ts';
import { createEntryFields, type EntryFields } from './entry-fields.ts';
import { createEntryOverview, type EntryOverview } from './entry-overview.ts';
import { createEntrySummaries, type EntrySummaries } from './entry-summaries.ts';
import { createEntryReads, type EntryReads } from './read-entries.ts';
import { createEntryRemovals, type EntryRemovals } from './remove-entries.ts';
import { createEntryWrites, type EntryWrites } from './write-entries.ts';

/** Everything that can be asked of the entries, for one of the databases. Writes are given the time. */
export type EntryOperations = EntryWrites & EntryRemovals & EntryReads & EntryOverview & EntrySummaries & EntryFields;

export const writeOperations = ['store', 'update', 'remove', 'restore', 'indexFields', 'putSummary'] as const;

export type EntryRunner = OperationRunner<EntryOperations, (typeof writeOperations)[number]>;

export function createEntryOperations(dialect: Dialect): EntryOperations {
  return {
    ...createEntryWrites(dialect),
    ...createEntryRemovals(dialect),
    ...createEntryReads(dialect),
    ...createEntryOverview(dialect),
    ...createEntrySummaries(dialect),
    ...createEntryFields(dialect),
  };
}
