import type { CandidatePlan, CountCache } from '../words/ranking/candidates.ts';
import type { IndexedTexts } from '../words/ranking/word-index.ts';
import type { Vocabulary } from '../words/vocabulary.ts';
import type { WordLeaf, WordQuery } from '../words/word-query.ts';
import type { EntryFilter } from './entries/entry.ts';
import type { PassageFilter } from './passages/passage.ts';
import type { BoundValue, Row, SqlFragment, SqlValue } from './rows.ts';
import type { ModelState, NearestRequest, ScoredVector, VectorCorpus } from './vectors/vector.ts';

/** Runs SQL in one transaction or one consistent read. Stores access the database only through it. */
export interface Statements {
  readonly dialect: Dialect;
  /** Time of the call: ISO 8601, UTC. */
  readonly now: string;
  /** Runs a statement. Values are bound to its question marks, never inserted into the SQL. */
  query(sql: string, values?: readonly BoundValue[]): Promise<Row[]>;
}

/** A function that runs in one transaction. It may be retried, so it must have no side effects outside the database. */
export type Operation<Request, Answer> = (db: Statements, request: Request) => Promise<Answer>;

/** An uploaded original that no job has accepted yet. */
export interface StagedOriginal {
  readonly id: string;
  /** SHA-256, in hex. */
  readonly hash: string;
  readonly bytes: number;
}

/** The SQL and the behaviour that differ between SQLite and PostgreSQL. */
export interface Dialect {
  /** Subquery for `IN (…)`: takes one bound list of integers. */
  readonly integers: string;
  /** Like `integers`, for short lists such as a page of keys. All lists share one query plan. */
  readonly fewIntegers: string;
  readonly numbers: string;
  readonly texts: string;
  /** Returns SQL that collects the texts in column `value` of a SELECT into one value, which `textsOf` reads. */
  textList(select: string): string;
  /** Returns a FROM item `element` with one row per text of a JSON array, in column `value`. */
  elements(json: string): string;
  /** Returns SQL for the position of the second text in the first, from 1; 0 if absent. */
  position(text: string, part: string): string;
  /** Suffix of a SELECT whose rows will be changed. */
  readonly forUpdate: string;
  /** Suffix of a SELECT whose rows must not change until the end of the transaction. */
  readonly forShare: string;
  /** Statement that locks each name of a bound list until the transaction ends. Undefined on SQLite, which has one writer. */
  readonly lock: string | undefined;
  /** Suffix that keeps the planner from turning a subquery into a join. May be empty. */
  readonly fence: string;
  /** Returns the statement that shows the query plan of `sql`. */
  explain(sql: string): string;
  planLine(row: Row): string;
  /** SQL for the database's own clock, in milliseconds. Leases use it because the clocks of machines differ. */
  readonly nowMs: string;
  /** Suffix of a SELECT that picks a job: skips jobs that another transaction is picking. */
  readonly skipLocked: string;
  /** Max rows per INSERT. */
  readonly rowsPerInsert: number;
  /** Returns the part of an INSERT that follows its column list. Generated keys ascend in the order of the rows. */
  rows(types: readonly ColumnType[], rows: readonly (readonly (string | number | null)[])[]): SqlFragment;
  readonly keys: ExplicitKeys;
  readonly words: WordTable;
  readonly vectors: VectorTable;
  readonly originals: Originals;
  describe(db: Statements): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each. */
  check(db: Statements): Promise<string[]>;
}

export type ColumnType = 'text' | 'bigint' | 'integer' | 'float8';

/** For inserting rows with explicit keys into a table that normally generates them. */
export interface ExplicitKeys {
  /** Returns the highest key that any row ever had. Blocks inserts by other transactions until this one ends. */
  highest(db: Statements, table: string): Promise<number>;
  /** Clause that follows the column list of an INSERT with explicit keys. */
  readonly clause: string;
  /** Makes generated keys continue after `key`. */
  advance(db: Statements, table: string, key: number): Promise<void>;
}

/** Stores and removes the bytes of documents within the running transaction. */
export interface Originals {
  /** Stores staged bytes permanently under their content hash. */
  adopt(db: Statements, staged: StagedOriginal): Promise<void>;
  remove(db: Statements, hash: string): Promise<void>;
}

/** A full-text index over one kind of document. */
export interface WordIndex {
  /** Prefix of the index's tables. */
  readonly name: string;
  /** The table whose rows are indexed. The index uses the same keys. */
  readonly owner: string;
  /** The column that breaks ties in a ranking. `id` is slower, because it is in the owner's row. */
  readonly tieBreaker: 'id' | 'key';
  /** Max number of matches that are counted for a total. */
  readonly totalMax: number;
  /** SQL condition for the rows `o` of the owner that are indexed. */
  readonly isIndexed: string;
  /** The owner's column that contains the labels. */
  readonly labels?: string;
  /** Returns the texts to index from a row of the owner. */
  textsOf(row: Row): IndexedTexts;
}

/** A SELECT of the keys that a search may return, in any order. Keys may be repeated. */
export interface KeyFilter extends SqlFragment {
  /** The same filter as groups of labels, if it tests nothing else. A document must have at least one label of each group. */
  readonly labels?: readonly (readonly string[])[] | undefined;
}

/**
 * Returns all words of an index, possibly including words of deleted documents. `counts` is the result of `WordTable.counts`. The
 * same object means that the words have not changed.
 */
export type VocabularyCache = (db: Statements, index: WordIndex, counts: object) => Promise<Vocabulary>;

/**
 * Writes the words of documents that are not in the index yet. `keys` are the keys of the texts, in the same order, ascending.
 * `otherWrites` are writes to other tables, which PostgreSQL runs in the same statement. Their SQL must not start with WITH.
 */
export type WriteWords = (
  db: Statements,
  index: WordIndex,
  keys: readonly number[],
  otherWrites?: readonly SqlFragment[],
) => Promise<void>;

export interface CandidateRequest {
  readonly query: WordQuery;
  readonly filter: KeyFilter | undefined;
  readonly plan: CandidatePlan;
  /** Returns the highest possible contribution of a word to a score. */
  weightOf(leaf: WordLeaf): number;
  /** Max keys returned. */
  readonly limit: number;
}

export interface Candidates {
  /** Roughly ordered, best first. */
  readonly keys: readonly number[];
  /** Number of all candidates, including those not returned. Undefined if unknown. */
  readonly total?: number | undefined;
}

/** The part of full-text search that differs between the databases. */
export interface WordTable {
  /** SQL for the document's key in a row `w` of an index. */
  readonly key: string;
  /** The tables from which a document must be deleted, without the index's prefix. Triggers update its other tables. */
  readonly tables: readonly string[];
  readonly counts: CountCache;
  readonly vocabulary: VocabularyCache;
  /** Returns a function that writes the words of these texts. PostgreSQL starts to tokenise long texts at once, on a thread. */
  tokenize(texts: readonly IndexedTexts[]): WriteWords;
  /** Counts the documents that contain each leaf. May estimate common words from `documents`, the number of all documents. */
  count(db: Statements, index: WordIndex, leaves: readonly WordLeaf[], documents: number): Promise<number[]>;
  /** Returns `FROM … WHERE …` for the rows `w` of documents that match the query and pass the filter. */
  matches(index: WordIndex, query: WordQuery, filter: KeyFilter | undefined): SqlFragment;
  /** Returns a filter for documents with at least one label of each group; undefined if there are no groups. */
  labelFilter(index: WordIndex, groups: readonly (readonly string[])[]): KeyFilter | undefined;
  /** Replaces the labels of a document's passages in the index. Call it before the passages themselves are relabelled. */
  relabelPassages(db: Statements, parent: string, labels: readonly string[]): Promise<void>;
  /** Finds the matches that contain at least one essential word of the plan. */
  candidates(db: Statements, index: WordIndex, request: CandidateRequest): Promise<Candidates>;
}

export interface StoredModel {
  readonly key: number;
  /** Undefined until the first vector is stored. */
  readonly dimensions: number | undefined;
}

export interface NearestFinders {
  readonly context: Operation<NearestRequest<EntryFilter>, ScoredVector[]>;
  readonly kb: Operation<NearestRequest<PassageFilter>, ScoredVector[]>;
}

/** The part of vector storage and search that differs between the databases. */
export interface VectorTable {
  /** SQL for the vector's components, for a SELECT. The resulting column is `vector`. */
  readonly column: string;
  encode(vector: Float32Array): SqlValue;
  decode(row: Row): Float32Array;
  /** Suffix of a SELECT of a model. Prevents the model from being dropped until the transaction ends. */
  readonly modelLock: string;
  /** Call before adding a model. Blocks writers of texts: they can't see the new model, so they would not queue texts for it. */
  beforeAddingModel(db: Statements, corpus: VectorCorpus): Promise<void>;
  /** Call before inserting vectors. In-memory indexes read them in key order, so no key may become visible after a higher one. */
  beforeAddingVectors(db: Statements, corpus: VectorCorpus): Promise<void>;
  /** Builds a model's on-disk index in the background, if the database supports one and it is missing. */
  ensureIndex(corpus: VectorCorpus, model: StoredModel): void;
  /** Drops a model's on-disk index, in the transaction that removes the model. */
  dropIndex(db: Statements, corpus: VectorCorpus, model: number): Promise<void>;
  indexState(db: Statements, corpus: VectorCorpus, model: number): Promise<ModelState['index']>;
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
