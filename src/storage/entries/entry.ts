import type { CorrectedWord } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { ContentType, EntryFilter, Source } from './entry-filter.ts';

/** For callers who may see only these threads. */
export type AmongThreads = Pick<EntryFilter, 'amongThreads'>;

export type Metadata = Readonly<Record<string, unknown>>;

export interface NewImage {
  readonly data: Uint8Array;
  readonly mimeType: string;
  /** As given: an object or any text. */
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
  /** Only for imported entries. */
  readonly summary: string | undefined;
  /** Summarise later. */
  readonly summaryWanted?: boolean;
  /** Only for imported entries; else the time of the call. */
  readonly createdAt?: string;
  readonly updatedAt?: string;
}

export interface Entry {
  readonly id: number;
  readonly threadId: string;
  readonly source: Source;
  readonly contentType: ContentType;
  readonly text: string;
  /** SHA-256 of the whole text, even if only a part was requested. */
  readonly textHash: string;
  readonly metadata: Metadata | undefined;
  readonly summary: string | undefined;
  /** Sorted by code unit. */
  readonly tags: readonly string[];
  /** ISO 8601, UTC, with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Only if requested. */
  readonly images?: readonly NewImage[];
}

/** A repeated write returns the first answer and changes nothing. */
export interface Idempotency {
  readonly key: string;
  /** Hash of tool and arguments: the same key with another hash is a conflict. */
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
  /** True if it repeated the last entry, which was updated instead. */
  readonly repeated: boolean;
  /** True if the entry already had a summary, which stays. */
  readonly summaryKept: boolean;
}

/** Entries of the same thread, source, time and text are equal. */
export interface ImportedEntry extends NewEntry {
  /** Its id at the source. */
  readonly wantedId?: number | undefined;
  /** Number of equal entries before it in the import. */
  readonly equalsBefore: number;
  /** createdAt is the import time; ignored when matching. */
  readonly hasNoTime: boolean;
}

export interface ImportOutcome {
  readonly id: number;
  /** False: it already existed. */
  readonly added: boolean;
}

/** Entries that an entry refers to, and the one that it replaces. */
export interface References {
  readonly context_ids?: readonly unknown[];
  readonly replaces?: number;
}

/** A change of ids in `references` of an entry's metadata. */
export interface ReferenceChange {
  readonly id: number;
  readonly from: References;
  readonly to: References;
}

export interface UpdateRequest extends WriteRequest, AmongThreads {
  readonly updates: readonly EntryUpdate[];
  readonly allOrNothing: boolean;
}

/** Undefined parts stay as they are. */
export interface EntryUpdate {
  readonly id: number;
  readonly text?: string | undefined;
  /** With `text`: make a new summary. The old one is removed in any case. */
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

/** All criteria must hold. At least one of ids, threads and age is required. */
export interface RemoveRequest extends WriteRequest, AmongThreads {
  readonly ids?: readonly number[] | undefined;
  readonly threadIds?: readonly string[] | undefined;
  readonly source?: Source | undefined;
  readonly olderThanDays?: number | undefined;
  /** Only reports what would be removed. */
  readonly dryRun: boolean;
  /** Hash from a dry run: nothing is removed if the selection has changed. */
  readonly onlyHash?: string | undefined;
}

export interface RemoveOutcome {
  readonly count: number;
  /** The first of them, ascending. */
  readonly ids: readonly number[];
  /** Hash of all ids, in a dry run. */
  readonly hash?: string;
  /** Requested threads without any entry. */
  readonly missingThreads?: readonly string[];
}

export interface RestoreRequest extends WriteRequest, AmongThreads {
  readonly ids?: readonly number[] | undefined;
  readonly threadId?: string | undefined;
}

export interface DeletedEntriesRequest extends AmongThreads {
  readonly limit: number;
  readonly offset: number;
}

export interface DeletedEntry {
  readonly id: number;
  readonly threadId: string;
  /** The first characters. */
  readonly text: string;
  readonly createdAt: string;
  readonly deletedAt: string;
}

export interface GetRequest extends AmongThreads {
  readonly ids: readonly number[];
  readonly images: boolean;
  /** As of this time, without entries whose state then is unknown. */
  readonly asOf?: string | undefined;
  /** Max characters of each text. */
  readonly textChars?: number | undefined;
}

export interface LoadRequest extends GetRequest {
  /** In the given order, or newest first. */
  readonly order: 'given' | 'newest';
  /** Counts text, metadata, summary and images. Images that are too large alone are omitted. */
  readonly bytesMax: number;
}

export interface LoadedEntries {
  readonly entries: readonly Entry[];
  /** Existing entries that did not fit, in the same order. */
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
  /** As for `load`. Default: no limit. */
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
  /** Number of matches on all pages. */
  readonly total: number;
  /** Upper bound of the score: an entry that repeats every query word. */
  readonly scoreMax: number;
  /** See FoundPage. */
  readonly corrected: readonly CorrectedWord[];
  readonly plan: string | undefined;
}

export interface TextsRequest {
  readonly filter: EntryFilter;
  readonly after: number;
  readonly limit: number;
}

export interface TextsBeforeRequest extends AmongThreads {
  readonly ids: readonly number[];
  /** Longer ones are omitted. */
  readonly charsMax: number;
}

export interface EntryText {
  readonly id: number;
  readonly text: string;
}

export interface ThreadsRequest extends AmongThreads {
  /** Only threads whose id contains this text. */
  readonly containing?: string | undefined;
  readonly limit: number | undefined;
  readonly offset: number;
}

export interface ThreadPage {
  readonly threads: readonly Thread[];
  /** Number of matches on all pages. */
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
  /** Entries with vectors of the requested model. */
  readonly embedded: number;
  readonly vectors: number;
}

export interface PastGaps {
  /** Entries changed since then whose earlier state is unknown. */
  readonly unknown: number;
  /** Entries that searches cannot find: their text was different, or they were removed since. */
  readonly unsearched: number;
  /** True if entries of that time may have been purged. */
  readonly purged: boolean;
}

export const indexModes = ['strict', 'auto', 'warn', 'additive'] as const;

export interface IndexFieldsRequest {
  /** See field-index. */
  readonly fields: readonly string[];
  /**
   * What to do if the index differs: nothing (`strict`, `warn`), add and remove (`auto`), or only add. An empty store always gets
   * the requested fields.
   */
  readonly mode: (typeof indexModes)[number];
}

/** How the index still differs from the request. */
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

/** Max metadata of an entry as JSON, in UTF-16 units. */
export const metadataUnitsMax = 1024 * 1024;

/** How long a removed entry can be restored, and an idempotency key is remembered. */
export const keptDays = 30;
