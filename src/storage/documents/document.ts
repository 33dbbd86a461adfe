import type { AcceptOutcome, NewChunk, Scope } from './ingestion.ts';

export interface StoredDocument {
  readonly id: number;
  readonly title: string;
  readonly docType: string;
  readonly filename: string;
  readonly sourcePath: string | undefined;
  /** SHA-256 of the given bytes, in hex. Unique among the documents that one caller may see. */
  readonly contentHash: string;
  readonly contentType: string;
  readonly bytes: number;
  readonly language: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly chunkCount: number;
  /** In the given order. */
  readonly tags: readonly string[];
  /** ISO 8601, UTC, with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string | undefined;
}

export interface ChunksRequest {
  readonly document: number;
  /** Position of the first chunk. */
  readonly from?: number | undefined;
  readonly limit?: number | undefined;
  /** Max characters in total, but at least one chunk. */
  readonly charsMax?: number | undefined;
}

export interface StoredChunk {
  /** Key of the passage. */
  readonly key: number;
  readonly position: number;
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

export interface LocateRequest {
  readonly keys: readonly number[];
  /** Chunks to include on either side. */
  readonly neighbours: number;
}

/** Asks about these documents, or about those with one of the tags. */
export type PendingRequest = { readonly model: string } & (
  | { readonly documents: readonly number[] }
  | { readonly anyTags: readonly string[] }
);

export interface PendingChunks {
  readonly document: number;
  readonly chunks: number;
}

export interface LocatedChunk extends StoredChunk {
  readonly document: StoredDocument;
  readonly neighbours: readonly { readonly position: number; readonly text: string }[];
}

/** All given conditions must hold. */
export interface DocumentSelection {
  readonly ids?: readonly number[] | undefined;
  /** The document must have all of them. */
  readonly tags?: readonly string[] | undefined;
  readonly docType?: string | undefined;
  readonly sourcePath?: string | undefined;
  /** Each must be in the title or source path, ignoring case. */
  readonly named?: readonly string[] | undefined;
  /** The document must have at least one of them. */
  readonly anyTags?: readonly string[] | undefined;
  /** Both ends are included. */
  readonly fromId?: number | undefined;
  readonly toId?: number | undefined;
}

export interface DocumentListRequest {
  readonly selection: DocumentSelection;
  /** Last changed first by default. */
  readonly sort?: DocumentSort | undefined;
  readonly limit: number;
  readonly offset: number;
}

export const documentSorts = ['changed', 'added', 'title', 'type', 'chunks'] as const;

export interface DocumentSort {
  readonly by: (typeof documentSorts)[number];
  readonly descending: boolean;
}

export interface TypeUse {
  readonly type: string;
  readonly count: number;
}

/** A deleted document that can be restored. */
export interface DeletedDocument {
  readonly id: number;
  readonly title: string;
  readonly docType: string;
  readonly sourcePath: string | undefined;
  readonly bytes: number;
  readonly tags: readonly string[];
  readonly createdAt: string;
  readonly deletedAt: string;
}

export interface DeletedPage {
  readonly documents: readonly DeletedDocument[];
  readonly total: number;
}

export interface StoredDocumentPage {
  readonly documents: readonly StoredDocument[];
  readonly total: number;
}

export interface TagsListRequest extends Scope {
  /** Only tags after this one. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export interface TagUse {
  readonly tag: string;
  readonly count: number;
}

/** How many tags of each kind to return. A kind with none requested is not read. */
export interface TagOverviewRequest extends Scope {
  readonly collections: number;
  readonly others: number;
}

export interface TagOverview {
  readonly collections: UsedTags;
  readonly others: UsedTags;
}

export interface UsedTags {
  readonly tags: readonly TagUse[];
  /** Includes those not returned. */
  readonly total: number;
}

export interface DocumentCounts {
  readonly documents: number;
  readonly chunks: number;
  /** Total size of the originals. */
  readonly bytes: number;
  /** Distinct tags that begin with `collection:`. */
  readonly collections: number;
}

export interface RemoveDocumentRequest {
  readonly id: number;
  /** True to keep the document restorable. */
  readonly keeps?: boolean;
}

/** The restoring job, or the document or job that already has the content. */
export type RestoreDocumentOutcome = AcceptOutcome | { readonly outcome: 'not_found' };

export interface RemovedDocument {
  readonly id: number;
  readonly title: string;
  readonly contentHash: string;
}

export interface TagsRequest {
  readonly id: number;
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Max tags per document; a change that exceeds it is not made at all. */
  readonly tagsMax: number;
}

export interface MoveRequest {
  readonly id: number;
  readonly sourcePath: string;
  /** Also becomes the title, if the title was the old file name. */
  readonly filename: string;
}

export interface NoteEdit extends Scope {
  readonly id: number;
  readonly text: string;
  readonly contentHash: string;
  readonly bytes: number;
  /** Used if the note's old title also came from its text. */
  readonly derivedTitle: string;
  readonly derivedFilename: string;
  readonly chunks: readonly NewChunk[];
}

export type NoteEditOutcome =
  | { readonly outcome: 'edited'; readonly document: StoredDocument }
  | { readonly outcome: 'not_found' | 'not_a_note' }
  /** Another document has exactly these bytes. */
  | { readonly outcome: 'duplicate'; readonly id: number; readonly title: string };

export type BulkAction =
  | { readonly kind: 'delete' }
  | {
      readonly kind: 'tags';
      readonly add: readonly string[];
      readonly remove: readonly string[];
      /** Also removes all other tags of this kind. With `anyTags`, only collections among those. */
      readonly replaces?: 'collections' | 'others' | undefined;
    }
  | { readonly kind: 'set_tags'; readonly tags: readonly string[] };

export interface BulkRequest {
  /** With `anyTags`, `percentMax` is a share of the documents with one of those tags. */
  readonly selection: DocumentSelection;
  readonly action: BulkAction;
  /** Max share of all documents, 0 to 100; more is rejected. */
  readonly percentMax: number;
  readonly tagsMax: number;
  /** True to keep deleted documents restorable. */
  readonly keeps?: boolean;
}

export type BulkChange =
  | {
      readonly outcome: 'changed';
      readonly matched: number;
      readonly total: number;
      readonly changed: number;
      readonly jobId: number;
      /** Hashes of deleted documents. */
      readonly contentHashes: readonly string[];
    }
  | { readonly outcome: 'too_many'; readonly matched: number; readonly total: number; readonly percent: number }
  | { readonly outcome: 'tags_full'; readonly id: number };
