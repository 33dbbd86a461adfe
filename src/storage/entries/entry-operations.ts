import { createEntryFields, type EntryFields } from './entry-fields.ts';
import { createEntryOverview, type EntryOverview } from './entry-overview.ts';
import { createEntrySummaries, type EntrySummaries } from './entry-summaries.ts';
import { createEntryReads, type EntryReads } from './read-entries.ts';
import { createEntryRemovals, type EntryRemovals } from './remove-entries.ts';
import type { Dialect, Work } from './work.ts';
import { createEntryWrites, type EntryWrites } from './write-entries.ts';

/** Everything that can be asked of the entries, for one of the databases. Writes are given the time. */
export type EntryOperations = EntryWrites & EntryRemovals & EntryReads & EntryOverview & EntrySummaries & EntryFields;

export type OperationName = keyof EntryOperations;

export const writeOperations = ['store', 'update', 'remove', 'restore', 'indexFields', 'putSummary'] as const;
export type WriteOperation = (typeof writeOperations)[number];
export type ReadOperation = Exclude<OperationName, WriteOperation>;

export type RequestOf<Name extends OperationName> = Parameters<EntryOperations[Name]>[0];
export type AnswerOf<Name extends OperationName> =
  ReturnType<EntryOperations[Name]> extends Work<infer Answer> ? Answer : never;

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
