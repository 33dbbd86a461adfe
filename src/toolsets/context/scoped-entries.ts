import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type { MeaningRequest } from '../../search/meaning/meaning.ts';
import type { EntryFilter, Idempotency } from '../../storage/entries/entry.ts';
import type { EntryStore } from '../../storage/entries/entry-store.ts';
import type { EntryMeaning } from './context-parts.ts';

type WriteRequest = { readonly idempotency?: Idempotency | undefined };

/**
 * Creates a view of the store with only some threads: entries in other threads appear not to exist. Background work
 * must use the whole store, because it serves all callers.
 */
export function scopedEntries(entries: EntryStore, threads: readonly string[]): EntryStore {
  const inThreads = (filter: EntryFilter): EntryFilter => ({ ...filter, visibleThreads: threads });
  const scope = createHash('sha256').update(JSON.stringify(threads)).digest('hex').slice(0, 16);
  /** Prefixes the idempotency key, so that it can't match a key of a caller with other threads. */
  const withScopedKey = <Request extends WriteRequest>(request: Request): Request => {
    const { idempotency } = request;
    if (idempotency === undefined) return request;
    return { ...request, idempotency: { ...idempotency, key: `${scope} ${idempotency.key}` } };
  };
  const denied = async (): Promise<never> => {
    throw new CarrelError('internal', 'This needs a token without restrictions.');
  };
  return {
    async store(request) {
      if (!request.entries.every(({ threadId }) => threads.includes(threadId))) throw outsideRights(threads);
      return entries.store(withScopedKey(request));
    },
    update: (request) => entries.update({ ...withScopedKey(request), visibleThreads: threads }),
    remove: (request) => entries.remove({ ...withScopedKey(request), visibleThreads: threads }),
    restore: (request) => entries.restore({ ...withScopedKey(request), visibleThreads: threads }),
    deleted: (request, options) => entries.deleted({ ...request, visibleThreads: threads }, options),
    purge: (request) => entries.purge({ ...request, visibleThreads: threads }),
    get: (request, options) => entries.get({ ...request, visibleThreads: threads }, options),
    load: (request, options) => entries.load({ ...request, visibleThreads: threads }, options),
    image: (request, options) => entries.image({ ...request, visibleThreads: threads }, options),
    list: (request, options) => entries.list({ ...request, filter: inThreads(request.filter) }, options),
    searchWords: (request, options) => entries.searchWords({ ...request, filter: inThreads(request.filter) }, options),
    scoreWords: (request, options) => entries.scoreWords(request, options),
    matching: (request, options) => entries.matching(inThreads(request), options),
    texts: (request, options) => entries.texts({ ...request, filter: inThreads(request.filter) }, options),
    textsBefore: (request, options) => entries.textsBefore({ ...request, visibleThreads: threads }, options),
    historyGaps: (request, options) => entries.historyGaps({ ...request, visibleThreads: threads }, options),
    threads: (request, options) => entries.threads({ ...request, visibleThreads: threads }, options),
    tags: (request, options) => entries.tags({ ...request, visibleThreads: threads }, options),
    statistics: (request, options) => entries.statistics({ ...request, visibleThreads: threads }, options),
    import: denied,
    changeReferences: denied,
    indexFields: denied,
    unsummarised: denied,
    putSummary: denied,
  };
}

/**
 * Limits semantic search to these threads. A request with `allowed` ids needs no filter, because a search in these
 * threads has returned the ids.
 */
export function scopedMeaning(meaning: EntryMeaning, threads: readonly string[]): EntryMeaning {
  const inScope = (request: MeaningRequest<EntryFilter>): MeaningRequest<EntryFilter> =>
    request.allowed === undefined ? { ...request, filter: { ...request.filter, visibleThreads: threads } } : request;
  return {
    get model() {
      return meaning.model;
    },
    get dimensions() {
      return meaning.dimensions;
    },
    get available() {
      return meaning.available;
    },
    wake: () => meaning.wake(),
    prefer: (owners) => meaning.prefer(owners),
    search: (request) => meaning.search(inScope(request)),
    find: (request) => meaning.find(inScope(request)),
    close: async () => {},
  };
}

/** Creates the error for a thread that the caller may not use. It doesn't reveal whether that thread exists. */
function outsideRights(threads: readonly string[]): CarrelError {
  const names = threads.map((name) => JSON.stringify(name)).join(', ');
  return new CarrelError('outside_rights', `This token may only store entries in the threads ${names}.`);
}
