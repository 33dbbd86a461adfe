import type { CandidatePlan, CountCache } from '../words/ranking/candidates.ts';
import type { IndexedTexts } from '../words/ranking/word-index.ts';
import type { Vocabulary } from '../words/vocabulary.ts';
import type { WordLeaf, WordQuery } from '../words/word-query.ts';
import type { StagedOriginal } from './documents/original-store.ts';
import type { EntryFilter } from './entries/entry-filter.ts';
import type { PassageFilter } from './passages/passage.ts';
import type { BoundValue, Condition, Row, SqlValue } from './rows.ts';
import type {
  ModelState,
  NearestRequest,
  ScoredVector,
  VectorBlock,
  VectorCorpus,
  VectorsAfter,
} from './vectors/vector.ts';

/** The statements of one transaction, or of one consistent read. Stores use nothing else. */
export interface Statements {
  readonly dialect: Dialect;
  /** Time of the call: ISO 8601, UTC. */
  readonly now: string;
  /** SQL texts are constant; values are bound to question marks, never inserted. */
  query(sql: string, values?: readonly BoundValue[]): Promise<Row[]>;
}

/** Runs in one transaction, or on one state of the data. May be retried, so it must have no other side effects. */
export type Operation<Request, Answer> = (on: Statements, request: Request) => Promise<Answer>;

/** What differs between the databases. */
export interface Dialect {
  /** Prefix of our table names. */
  readonly schema: string;
  /** Subquery for `IN`, with one bound list of integers. */
  readonly integers: string;
  /** As `integers`, for short lists such as a page of keys: one plan fits all of them. */
  readonly fewIntegers: string;
  readonly numbers: string;
  readonly texts: string;
  /** The texts in column `value` of a SELECT, as one value for `textsOf`. */
  textList(select: string): string;
  /** The texts of a JSON array, as rows `element` with a column `value`. */
  elements(json: string): string;
  /** Position of the second text in the first, from 1; 0 if absent. */
  position(text: string, part: string): string;
  /** The smaller of two values. */
  least(first: string, second: string): string;
  greatest(first: string, second: string): string;
  /** Suffix of a SELECT whose rows will be changed. */
  readonly forUpdate: string;
  /** Suffix of a SELECT whose rows must not change until the end of the transaction. */
  readonly forShare: string;
  /** Locks each text of a list for one transaction at a time. Undefined if there is only one writer. */
  readonly lock: string | undefined;
  /** Ends a subquery that must be evaluated per row: empty, or a clause that keeps it from becoming a join. */
  readonly fence: string;
  /** Wraps a statement to return its plan. */
  explain(sql: string): string;
  planLine(row: Row): string;
  /** The database's own clock in milliseconds: leases use it, so that machines do not disagree. */
  readonly nowMs: string;
  /** Suffix of a SELECT that picks a job: skips jobs that another transaction is picking. */
  readonly skipLocked: string;
  /** Rows per INSERT in bulk. */
  readonly rowsAtOnce: number;
  /** The part of an INSERT after its columns. Generated keys ascend in row order. */
  rows(types: readonly ColumnType[], rows: readonly (readonly (string | number | null)[])[]): Condition;
  readonly keys: ExplicitKeys;
  readonly words: WordTable;
  readonly vectors: VectorTable;
  readonly originals: Originals;
  describe(on: Statements): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each. */
  check(on: Statements): Promise<string[]>;
}

export type ColumnType = 'text' | 'bigint' | 'integer' | 'float8';

/** For inserting rows with explicit keys into a table that normally generates them. */
export interface ExplicitKeys {
  /** The highest key any row ever had. Nobody else adds a row until the end of the transaction. */
  highest(on: Statements, table: string): Promise<number>;
  /** Clause after the columns of an INSERT that includes the key. */
  readonly given: string;
  /** Generated keys continue after this one. */
  advance(on: Statements, table: string, key: number): Promise<void>;
}

/** The bytes of documents, within the running transaction. */
export interface Originals {
  /** Stores staged bytes permanently under their content hash. */
  adopt(on: Statements, staged: StagedOriginal): Promise<void>;
  remove(on: Statements, hash: string): Promise<void>;
}

/** A full-text index over one kind of document. */
export interface WordIndex {
  /** Prefix of the index's tables. */
  readonly name: string;
  /** The table that its keys belong to. */
  readonly owner: string;
  /** Breaks ties in a ranking. `id` is a column of the owner, which costs a read. */
  readonly ties: 'id' | 'key';
  /** Max matches counted. */
  readonly totalMax: number;
  /** Condition on rows `o` of the owner that are indexed. */
  readonly isIndexed: string;
  /** The owner's column with the labels. */
  readonly labels?: string;
  /** The indexed texts of an owner's row. */
  textsOf(row: Row): IndexedTexts;
}

/** A SELECT of the permitted keys, in any order and possibly repeated. */
export interface KeyFilter extends Condition {
  /** True if many documents pass: then each match is tested, instead of listing the keys first. */
  readonly isWide?: boolean;
  /** The same filter as a condition on `o`, if it needs only `o.key` of indexed documents. */
  readonly onKeys?: Condition | undefined;
  /** The same filter as labels, if it tests only labels: a document must have at least one label of each group. */
  readonly labels?: readonly (readonly string[])[] | undefined;
}

/**
 * The current words of each index, possibly including words of deleted documents. The counts are those of `WordTable.counts`:
 * equal counts mean equal words.
 */
export type VocabularyCache = (on: Statements, index: WordIndex, counts: object) => Promise<Vocabulary>;

/**
 * Writes words of documents that are not in the index yet. Keys are in the order of the texts and must ascend. `also`: writes
 * to other tables, in SQL that doesn't start with WITH; PostgreSQL runs them in the same statement.
 */
export type WriteWords = (
  on: Statements,
  index: WordIndex,
  keys: readonly number[],
  also?: readonly Condition[],
) => Promise<void>;

export interface CandidateRequest {
  readonly query: WordQuery;
  readonly filter: KeyFilter | undefined;
  readonly plan: CandidatePlan;
  /** The most that a word adds to a score. */
  weightOf(leaf: WordLeaf): number;
  /** Max keys returned. */
  readonly limit: number;
}

export interface Candidates {
  /** Roughly ordered, best first. */
  readonly keys: readonly number[];
  /** All candidates, returned or not. Undefined if unknown. */
  readonly total?: number | undefined;
}

/** What the databases do differently with words. */
export interface WordTable {
  /** The document's key in the rows `w` of an index. */
  readonly key: string;
  /** The tables a document must be removed from, without the prefix. Triggers update the others. */
  readonly tables: readonly string[];
  readonly counts: CountCache;
  readonly vocabulary: VocabularyCache;
  /** Tokenises texts: at once if another thread helps, else when they are written. */
  tokenize(texts: readonly IndexedTexts[]): WriteWords;
  /** The number of documents with each leaf, out of `documents`. Estimated for common words. */
  count(on: Statements, index: WordIndex, leaves: readonly WordLeaf[], documents: number): Promise<number[]>;
  /** `FROM … WHERE …`: the rows `w` of documents that match the query and pass the filter. */
  matches(index: WordIndex, query: WordQuery, filter: KeyFilter | undefined): Condition;
  /** Documents with at least one label of each group; all, if there are no groups. */
  labelled(index: WordIndex, groups: readonly (readonly string[])[]): KeyFilter | undefined;
  /** Replaces the labels in the index. Call it before all passages of a document get these. */
  relabelPassages(on: Statements, parent: string, labels: readonly string[]): Promise<void>;
  /** Matches with an essential word of the plan. */
  candidates(on: Statements, index: WordIndex, asked: CandidateRequest): Promise<Candidates>;
}

export interface StoredModel {
  readonly key: number;
  /** Undefined until the first vector. */
  readonly dimensions: number | undefined;
}

export interface NearestFinders {
  readonly context: Operation<NearestRequest<EntryFilter>, ScoredVector[]>;
  readonly kb: Operation<NearestRequest<PassageFilter>, ScoredVector[]>;
}

/** What the databases do differently with vectors. */
export interface VectorTable {
  /** The components of a vector, as a column `vector` of a SELECT. */
  readonly column: string;
  encode(vector: Float32Array): SqlValue;
  decode(row: Row): Float32Array;
  /** Suffix of a SELECT that locks a model against dropping until the transaction ends. */
  readonly keepModel: string;
  /**
   * Call before adding a model. Locks out writers of texts: one that cannot see the model yet would not list its text as waiting
   * for the model's vectors.
   */
  beforeModel(on: Statements, corpus: VectorCorpus): Promise<void>;
  /** Call before inserting vectors: in-memory indexes read them in key order, so no key may appear after a higher one. */
  beforeVectors(on: Statements, corpus: VectorCorpus): Promise<void>;
  /** The vectors of a model after a key, ascending. */
  after(
    on: Statements,
    corpus: VectorCorpus,
    model: number,
    range: Pick<VectorsAfter, 'after' | 'limit'>,
  ): Promise<VectorBlock>;
  /** Packs the first vectors after a key into a block and returns its last key; undefined if nothing is left. */
  pack(on: Statements, corpus: VectorCorpus, model: number, after: number): Promise<number | undefined>;
  /** Builds a model's on-disk index in the background, if the database has one and it is missing. */
  ensureIndex(corpus: VectorCorpus, model: StoredModel): void;
  /** Part of the transaction that forgets the model. */
  dropIndex(on: Statements, corpus: VectorCorpus, model: number): Promise<void>;
  indexState(on: Statements, corpus: VectorCorpus, model: number): Promise<ModelState['index']>;
  /** Finds the nearest vectors, if the database has an index for that. */
  readonly nearest?: NearestFinders | undefined;
}

export interface StorageDescription {
  readonly backend: 'sqlite' | 'postgres';
  /** Version of the database engine. */
  readonly version: string;
  readonly schema: number;
  readonly bytes: number;
}
