import type { EntryStore } from '../../contracts/entries.ts';
import type { EntryRunner } from './entry-operations.ts';

export function entryStoreOf({ write, read }: EntryRunner): EntryStore {
  return {
    store: (request) => write('store', request),
    update: (request) => write('update', request),
    remove: (request) => write('remove', request),
    restore: (request) => write('restore', request),
    get: (request, options) => read('get', request, options),
    list: (request, options) => read('list', request, options),
    searchWords: (request, options) => read('searchWords', request, options),
    weighWords: (request, options) => read('weighWords', request, options),
    matching: (request, options) => read('matching', request, options),
    texts: (request, options) => read('texts', request, options),
    pastGaps: (request, options) => read('pastGaps', request, options),
    indexFields: (request) => write('indexFields', request),
    unsummarised: (request) => read('unsummarised', request, undefined),
    putSummary: (request) => write('putSummary', request),
    threads: (request, options) => read('threads', request, options),
    statistics: (request, options) => read('statistics', request, options),
  };
}
