import type { StagedOriginal } from '../../contracts/ingestion.ts';
import type { PassageDocument } from '../../contracts/passages.ts';
import type { Dialect } from '../../dialect.ts';
import type { MaybePromise, Queries, Work } from '../entries/work.ts';

/** What the documents ask of a database beside statements. All of it takes part in the transaction. */
export interface DocumentEngine extends Queries {
  writePassages(document: PassageDocument): MaybePromise<void>;
  removePassages(parents: readonly string[]): MaybePromise<unknown>;
  labelPassages(parents: readonly string[], labels: readonly string[]): MaybePromise<void>;
  /** Puts staged bytes under the hash of their content, for good. */
  adoptOriginal(staged: StagedOriginal): MaybePromise<void>;
  removeOriginal(hash: string): MaybePromise<void>;
}

export type DocumentWork<Result> = Work<Result, DocumentEngine>;

export interface DocumentDialect extends Dialect {
  /** The database's own clock in milliseconds: leases are compared by it, so that no two machines disagree. */
  readonly nowMs: string;
  /** Behind a SELECT that picks a job: one that another transaction is picking is passed over. */
  readonly skipLocked: string;
}

export function tablesOf({ schema }: Pick<Dialect, 'schema'>) {
  return {
    documents: `${schema}kb_documents`,
    tags: `${schema}kb_document_tags`,
    notes: `${schema}kb_notes`,
    chunks: `${schema}kb_chunks`,
    jobs: `${schema}kb_jobs`,
    passages: `${schema}kb_passages`,
  };
}

/** The name of a document among the passages. */
export function parentOf(document: number): string {
  return String(document);
}

/** By which searches are narrowed. */
export function tagLabel(tag: string): string {
  return `tag:${tag}`;
}

export function typeLabel(docType: string): string {
  return `type:${docType}`;
}

export function labelsOf(docType: string, tags: readonly string[]): string[] {
  return [typeLabel(docType), ...tags.map(tagLabel)];
}
