import type { MendedWord, WeighedWords, WeighRequest } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { ContentType, EntryFilter, Source } from './entry-filter.ts';
import type { ReadOptions } from './read-options.ts';

/** The memory of an agent: texts in threads, with tags, metadata and images. */
export interface EntryStore {
  /** In one transaction, in order. An entry that repeats the last one of its thread and source updates that one. */
  store(request: StoreRequest): Promise<StoreOutcome[]>;
  /** Entries from elsewhere, in one transaction, in order; those that are here already are left alone. */
  takeOver(request: TakeOverRequest): Promise<TakeOverOutcome[]>;
  /** After entries were taken over under new ids. Returns how many were changed. */
  changeReferences(request: { readonly changes: readonly ReferenceChange[] }): Promise<number>;
  /** In one transaction, in order. With `allOrNothing`, an id that names nothing throws `entry_not_found`. */
  update(request: UpdateRequest): Promise<UpdateOutcome[]>;
  /** Hides entries from all reads; `restore` brings them back until they are purged. */
  remove(request: RemoveRequest): Promise<RemoveOutcome>;
  restore(request: RestoreRequest): Promise<RestoreOutcome>;
  /** Newest first; ids that name nothing are left out. */
  get(request: GetRequest, options?: ReadOptions): Promise<Entry[]>;
  /** As many of them as fit into the bytes, at least one. */
  load(request: LoadRequest, options?: ReadOptions): Promise<LoadedEntries>;
  /** One image of an entry, counted from 0. */
  image(request: ImageRequest, options?: ReadOptions): Promise<NewImage | undefined>;
  /** Newest first. */
  list(request: ListRequest, options?: ReadOptions): Promise<EntryPage>;
  /** By words: the most relevant first, equals in the order of their ids. */
  searchWords(request: WordSearchRequest, options?: ReadOptions): Promise<ScoredPage>;
  /** What the words of a query say about entries that are known already, term by term. The keys are their ids. */
  weighWords(request: WeighRequest, options?: ReadOptions): Promise<WeighedWords>;
  /** The ids of entries that the filter lets through and a search may find, ascending. */
  matching(request: EntryFilter, options?: ReadOptions): Promise<number[]>;
  /** Texts in the order of their ids, after `after`, for scanning them one by one. */
  texts(request: TextsRequest, options?: ReadOptions): Promise<EntryText[]>;
  /** What a look into the past does not show. */
  pastGaps(request: EntryFilter & { readonly asOf: string }, options?: ReadOptions): Promise<PastGaps>;
  /** Makes the metadata index contain the requested fields, as far as the mode allows. */
  indexFields(request: IndexFieldsRequest): Promise<IndexFieldsOutcome>;
  /** Entries whose summary is still to be made, oldest first. */
  unsummarised(request: { readonly limit: number }): Promise<TextToSummarise[]>;
  /** Left out for an entry whose text has changed or gone since. Undefined: none can be made. */
  putSummary(request: SummaryRequest): Promise<void>;
  threads(request: ThreadsRequest, options?: ReadOptions): Promise<ThreadPage>;
  /** The tags of entries, the commonest first; at most 10,000. */
  tags(request: AmongThreads, options?: ReadOptions): Promise<TagCount[]>;
  statistics(
    request: AmongThreads & { readonly model: string | undefined },
    options?: ReadOptions,
  ): Promise<EntryStatistics>;
}

/** For callers who may know only of these threads. */
export type AmongThreads = Pick<EntryFilter, 'amongThreads'>;

export type Metadata = Readonly<Record<string, unknown>>;

export interface NewImage {
  readonly data: Uint8Array;
  readonly mimeType: string;
  /** Kept as it was given: an object, or a text of any kind. */
  readonly metadata: Metadata | string | undefined;
}

export interface NewEntry {
  readonly threadId: string;
  readonly source: Source;
  readonly text: string;
  readonly metadata: Metadata | undefined;
  /** Normalised and unique. */
  readonly tags: readonly string[];
  readonly images: readonly NewImage[];
  /** Only for entries that come from elsewhere with one. */
  readonly summary: string | undefined;
  /** One shall be made of the text, later. */
  readonly summaryWanted?: boolean;
  /** Only for entries that come from elsewhere; else the time of the call. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

export interface Entry {
  readonly id: number;
  readonly threadId: string;
  readonly source: Source;
  readonly contentType: ContentType;
  readonly text: string;
  /** SHA-256 of the whole text, even where only a part of it was asked for. */
  readonly textHash: string;
  readonly metadata: Metadata | undefined;
  readonly summary: string | undefined;
  /** Sorted by code unit. */
  readonly tags: readonly string[];
  /** ISO 8601, UTC, with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** In their order; only where they were asked for. */
  readonly images?: readonly NewImage[];
}

/** Makes a repeated write answer as the first time, instead of being carried out again. */
export interface Idempotency {
  readonly key: string;
  /** Of tool and arguments: the same key with others is a conflict. */
  readonly bodyHash: string;
}

interface WriteRequest {
  readonly idempotency?: Idempotency | undefined;
}

export interface StoreRequest extends WriteRequest {
  readonly entries: readonly NewEntry[];
}

export interface StoreOutcome {
  readonly id: number;
  readonly threadId: string;
  /** It repeated the last entry, which was updated. */
  readonly repeated: boolean;
  /** The entry had a summary, and keeps it. */
  readonly summaryKept: boolean;
}

export interface TakeOverRequest {
  readonly entries: readonly TakenOverEntry[];
}

/** Equal are entries of the same thread, source, time and text. */
export interface TakenOverEntry extends NewEntry {
  /** The id that it has where it comes from. */
  readonly wantedId?: number | undefined;
  /** How many of its equals come before it there: as many of those that are here are not this one. */
  readonly equalsBefore: number;
  /** Its time is only that of its coming, and does not count. */
  readonly hasNoTime: boolean;
}

export interface TakeOverOutcome {
  readonly id: number;
  /** False: it was here already. */
  readonly added: boolean;
}

/** Of `references.context_ids` in an entry's metadata. */
export interface ReferenceChange {
  readonly id: number;
  readonly from: readonly unknown[];
  readonly to: readonly unknown[];
}

export interface UpdateRequest extends WriteRequest, AmongThreads {
  readonly updates: readonly EntryUpdate[];
  readonly allOrNothing: boolean;
}

/** What is left out stays as it is. */
export interface EntryUpdate {
  readonly id: number;
  readonly text?: string | undefined;
  /** Goes with `text`, whose summary is to be made again. The old one is removed in any case. */
  readonly summaryWanted?: boolean | undefined;
  readonly metadata?: Metadata | undefined;
  /** RFC 7396. */
  readonly metadataPatch?: Metadata | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly images?: readonly NewImage[] | undefined;
}

export type UpdateOutcome =
  | { readonly id: number; readonly found: false }
  | {
      readonly id: number;
      readonly found: true;
      readonly hadSummary: boolean;
    };

/** Every criterion that is given must hold. At least one of ids, threads and age must be given. */
export interface RemoveRequest extends WriteRequest, AmongThreads {
  readonly ids?: readonly number[] | undefined;
  readonly threadIds?: readonly string[] | undefined;
  readonly source?: Source | undefined;
  readonly olderThanDays?: number | undefined;
  /** Only reports what would be removed. */
  readonly dryRun: boolean;
  /** What a dry run said: nothing is removed if other entries are chosen by now. */
  readonly onlyHash?: string | undefined;
}

export interface RemoveOutcome {
  readonly count: number;
  /** The first of them, ascending. */
  readonly ids: readonly number[];
  /** Of all their ids, in a dry run. */
  readonly hash?: string;
  /** Threads that were asked for and have no entries at all, whatever the other criteria. */
  readonly missingThreads?: readonly string[];
}

export interface RestoreRequest extends WriteRequest, AmongThreads {
  readonly ids?: readonly number[] | undefined;
  readonly threadId?: string | undefined;
}

export interface RestoreOutcome {
  readonly ids: readonly number[];
}

export interface GetRequest extends AmongThreads {
  readonly ids: readonly number[];
  readonly images: boolean;
  /** As they were at this time; what is not known any more is left out. */
  readonly asOf?: string | undefined;
  /** Of each text only this many characters, from its beginning. */
  readonly textChars?: number | undefined;
}

export interface LoadRequest extends GetRequest {
  /** In this order, or newest first. */
  readonly order: 'given' | 'newest';
  /** Of text, metadata, summary and images. An entry whose images are too large by themselves comes without them. */
  readonly bytesMax: number;
}

export interface ImageRequest extends AmongThreads {
  readonly id: number;
  readonly position: number;
}

export interface LoadedEntries {
  readonly entries: readonly Entry[];
  /** Entries that exist and did not fit, in the same order. */
  readonly rest: readonly number[];
}

export interface ListRequest {
  readonly filter: EntryFilter;
  readonly limit: number;
  readonly offset: number;
  readonly images: boolean;
  /** Add the database's query plan. */
  readonly explain: boolean;
  readonly textChars?: number | undefined;
  /** As for `load`; without it, all entries of the page come. */
  readonly bytesMax?: number;
}

export interface EntryPage {
  readonly entries: readonly Entry[];
  /** Entries of this page that did not fit. */
  readonly rest: readonly number[];
  readonly plan: string | undefined;
}

export interface WordSearchRequest {
  readonly query: WordQuery;
  readonly filter: EntryFilter;
  readonly limit: number;
  readonly offset: number;
  /** See Page. */
  readonly counts?: boolean;
  /** Add the database's query plan. */
  readonly explain: boolean;
}

export interface ScoredEntry {
  readonly id: number;
  readonly score: number;
  /** See Ranked. */
  readonly coverage?: number | undefined;
}

export interface ScoredPage {
  readonly hits: readonly ScoredEntry[];
  /** Of all entries that fit, on this page or not. */
  readonly total: number;
  /** What an entry with every word of the query, often, would score. */
  readonly scoreMax: number;
  /** See FoundPage. */
  readonly mended: readonly MendedWord[];
  readonly plan: string | undefined;
}

export interface TextsRequest {
  readonly filter: EntryFilter;
  readonly after: number;
  readonly limit: number;
}

export interface EntryText {
  readonly id: number;
  readonly text: string;
}

export interface ThreadsRequest extends AmongThreads {
  /** Only threads whose id contains this text, letter for letter. */
  readonly containing?: string | undefined;
  readonly limit: number | undefined;
  readonly offset: number;
}

export interface ThreadPage {
  readonly threads: readonly Thread[];
  /** Of all threads that fit, on this page or not. */
  readonly total: number;
}

export interface Thread {
  readonly threadId: string;
  readonly entries: number;
  readonly sources: number;
  readonly multimodal: number;
  readonly firstEntry: string;
  readonly lastEntry: string;
  readonly lastId: number;
}

export interface TagCount {
  readonly tag: string;
  readonly count: number;
}

export interface EntryStatistics {
  readonly total: number;
  readonly bySource: Readonly<Record<string, number>>;
  readonly byContentType: Readonly<Record<string, number>>;
  readonly images: number;
  readonly uniqueTags: number;
  readonly threads: number;
  readonly mostActive: readonly { readonly threadId: string; readonly count: number }[];
  readonly topTags: readonly TagCount[];
  readonly summaries: number;
  readonly indexed: number;
  /** Entries with vectors of the model that was asked for, and their vectors. */
  readonly embedded: number;
  readonly vectors: number;
}

export interface PastGaps {
  /** Entries that were changed since and whose earlier state is not known. */
  readonly unknown: number;
  /** Entries of that time that searches by words and meaning cannot find: their text was different, or they were removed. */
  readonly unsearched: number;
  /** Entries of that time may have been purged. */
  readonly purged: boolean;
}

export const indexModes = ['strict', 'auto', 'warn', 'additive'] as const;

export interface IndexFieldsRequest {
  /** See indexed-fields. */
  readonly fields: readonly string[];
  /**
   * What to do where the index holds others: nothing (`strict`, `warn`), add and take away (`auto`), or only add
   * (`additive`). An empty store takes what is wanted in any case.
   */
  readonly mode: (typeof indexModes)[number];
}

/** How the index differs from what is wanted, after the mode was followed. */
export interface IndexFieldsOutcome {
  readonly missing: readonly string[];
  readonly extra: readonly string[];
}

export interface TextToSummarise {
  readonly id: number;
  readonly source: Source;
  readonly text: string;
  readonly textHash: string;
}

export interface SummaryRequest {
  readonly id: number;
  readonly textHash: string;
  readonly summary: string | undefined;
}

/** The longest metadata of an entry as JSON, in UTF-16 units. */
export const metadataUnitsMax = 1024 * 1024;

/** How long a removed entry can be brought back, and how long an idempotency key is remembered. */
export const keptDays = 30;
