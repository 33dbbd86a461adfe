import type { EntryStore } from '../../contracts/entries.ts';
import type { Transactions } from '../../transactions.ts';
import { textsBefore } from './entry-before.ts';
import { indexFields } from './entry-fields.ts';
import { entryStatistics, listTags, listThreads } from './entry-overview.ts';
import { putSummary, unsummarisedEntries } from './entry-summaries.ts';
import {
  entryImage,
  entryTexts,
  getEntries,
  listEntries,
  loadEntries,
  matchingEntries,
  pastGaps,
  searchEntryWords,
  weighEntryWords,
} from './read-entries.ts';
import { removeEntries, restoreEntries } from './remove-entries.ts';
import { changeReferences, takeOverEntries } from './take-over-entries.ts';
import { storeEntries, updateEntries } from './write-entries.ts';

/** Each call is one transaction, or one read; see operations.ts, where all of these are listed. */
export function createEntryStore({ write, read }: Transactions): EntryStore {
  return {
    store: (request) => write(storeEntries, request),
    takeOver: (request) => write(takeOverEntries, request),
    changeReferences: (request) => write(changeReferences, request),
    update: (request) => write(updateEntries, request),
    remove: (request) => write(removeEntries, request),
    restore: (request) => write(restoreEntries, request),
    get: (request, options) => read(getEntries, request, options),
    load: (request, options) => read(loadEntries, request, options),
    image: (request, options) => read(entryImage, request, options),
    list: (request, options) => read(listEntries, request, options),
    searchWords: (request, options) => read(searchEntryWords, request, options),
    weighWords: (request, options) => read(weighEntryWords, request, options),
    matching: (request, options) => read(matchingEntries, request, options),
    texts: (request, options) => read(entryTexts, request, options),
    textsBefore: (request, options) => read(textsBefore, request, options),
    pastGaps: (request, options) => read(pastGaps, request, options),
    indexFields: (request) => write(indexFields, request),
    unsummarised: (request) => read(unsummarisedEntries, request),
    putSummary: (request) => write(putSummary, request),
    threads: (request, options) => read(listThreads, request, options),
    tags: (request, options) => read(listTags, request, options),
    statistics: (request, options) => read(entryStatistics, request, options),
  };
}
