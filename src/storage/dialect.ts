import type { CandidatePlan, CountCache } from '../words/ranking/candidates.ts';
import type { IndexedTexts } from '../words/ranking/word-index.ts';
import type { Vocabulary } from '../words/vocabulary.ts';
import type { WordLeaf, WordQuery } from '../words/word-query.ts';
import type { StagedOriginal } from './documents/ingestion.ts';
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

/** The statements of one transaction, or of one consistent read. Stores are written on nothing else. */
export interface Statements {
  readonly dialect: Dialect;
  /** When the call was made: ISO 8601, UTC. */
  readonly now: string;
  /** SQL texts are constant; values are bound to question marks and never put into the text. */
  query(sql: string, values?: readonly BoundValue[]): Promise<Row[]>;
}

/** Runs in one transaction, or on one state of the data. It may be retried, so it must have no other side effects. */
export type Operation<Request, Answer> = (on: Statements, request: Request) => Promise<Answer>;

/** Where the databases differ. */
export interface Dialect {
  /** The prefix of our table names. */
  readonly schema: string;
  /** A list as something that `IN` takes. */
  readonly integers: string;
  /** The same for a page of keys: a statement is planned for a few of them, and once. */
  readonly fewIntegers: string;
  readonly numbers: string;
  readonly texts: string;
  /** The texts that a SELECT of a column `value` gives, as one value for `textsOf`. */
  textList(select: string): string;
  /** The texts of a JSON array, as rows `element` with a column `value`. */
  elements(json: string): string;
  /** The position of the second text in the first, from 1; 0 if it is not contained. */
  position(text: string, part: string): string;
  /** Of two values. */
  least(first: string, second: string): string;
  greatest(first: string, second: string): string;
  /** Behind a SELECT whose rows will be changed. */
  readonly forUpdate: string;
  /** Behind a SELECT whose rows must stay as they are until the end. */
  readonly forShare: string;
  /** Admits one transaction at a time for each text of a list. Undefined if there is only one writer. */
  readonly lock: string | undefined;
  /** At the end of a subquery that must be evaluated per row: nothing, or what keeps it from becoming a join. */
  readonly fence: string;
  /** The statement that returns the plan of another. */
  explain(sql: string): string;
  planLine(row: Row): string;
  /** The database's own clock in milliseconds: leases are compared by it, so that no two machines disagree. */
  readonly nowMs: string;
  /** Behind a SELECT that picks a job: one that another transaction is picking is passed over. */
  readonly skipLocked: string;
  /** Rows that one INSERT carries, where many come. */
  readonly rowsAtOnce: number;
  /** Rows as what an INSERT takes behind its columns. Keys that are generated ascend in the order of the rows. */
  rows(types: readonly ColumnType[], rows: readonly (readonly (string | number | null)[])[]): Condition;
  readonly keys: ExplicitKeys;
  readonly words: WordTable;
  readonly passages: PassageTable;
  readonly vectors: VectorTable;
  readonly originals: Originals;
  describe(on: Statements): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each. */
  check(on: Statements): Promise<string[]>;
}

export type ColumnType = 'text' | 'bigint' | 'integer' | 'float8';

/** Keys that rows bring with them, into a table that generates them as a rule. */
export interface ExplicitKeys {
  /** The highest that any row has ever had. Nobody else adds a row until the end of the transaction. */
  highest(on: Statements, table: string): Promise<number>;
  /** Behind the columns of an INSERT that has the key. */
  readonly given: string;
  /** Generated keys follow this one. */
  advance(on: Statements, table: string, key: number): Promise<void>;
}

/** The bytes of documents, as part of the running transaction. */
export interface Originals {
  /** Puts staged bytes under the hash of their content, for good. */
  adopt(on: Statements, staged: StagedOriginal): Promise<void>;
  remove(on: Statements, hash: string): Promise<void>;
}

/** One kind of document that is found by its words. */
export interface WordIndex {
  /** The prefix of the index's tables. */
  readonly name: string;
  /** The table that its keys are of. */
  readonly owner: string;
  /** What breaks ties. `id` is a column of the owner, and has to be read. */
  readonly ties: 'id' | 'key';
  /** Matches are counted up to here. */
  readonly totalMax: number;
  /** Which rows of the owner, called `o`, are indexed. */
  readonly isIndexed: string;
  /** The column of the owner that lists the labels. */
  readonly labels?: string;
  /** What is indexed of a row of the owner. */
  textsOf(row: Row): IndexedTexts;
}

/** A SELECT of the keys that may be found, in a column of that name, in any order and perhaps several times. */
export interface KeyFilter extends Condition {
  /** Many documents pass: each match is tested, instead of listing the keys first. */
  readonly isWide?: boolean;
  /** The same as a condition on `o`, if it needs nothing but `o.key` of indexed documents. */
  readonly onKeys?: Condition | undefined;
  /** The same as labels, if it is about nothing else: a document must have at least one label of each group. */
  readonly labels?: readonly (readonly string[])[] | undefined;
}

/**
 * The words of each index as they are now. Words of documents that are gone may still be among them. The counts are those of
 * `WordTable.counts`: as long as they are the same, so are the words.
 */
export type VocabularyCache = (on: Statements, index: WordIndex, counts: object) => Promise<Vocabulary>;

/**
 * Writes words of documents that are not in the index. The keys are in the order of the texts, and must ascend. `also`: writes
 * to other tables, which don't start with WITH; PostgreSQL gets them in the same statement.
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
  /** In a rough order, the best first. */
  readonly keys: readonly number[];
  /** All candidates, returned or not. Undefined if unknown. */
  readonly total?: number | undefined;
}

/** What the databases do differently with the words of documents. */
export interface WordTable {
  /** The document's key in the rows `w` of an index. */
  readonly key: string;
  /** The tables from which a document has to be taken, behind the prefix. Triggers keep the others in step. */
  readonly tables: readonly string[];
  readonly counts: CountCache;
  readonly vocabulary: VocabularyCache;
  /** Finds the words of texts. Begins at once where another thread helps, else when they are written. */
  tokenize(texts: readonly IndexedTexts[]): WriteWords;
  /** The number of documents that have each of these, of all `documents`. Estimated for common words. */
  count(on: Statements, index: WordIndex, leaves: readonly WordLeaf[], documents: number): Promise<number[]>;
  /** `FROM … WHERE …`: the rows `w` of documents that match the query and pass the filter. */
  matches(index: WordIndex, query: WordQuery, filter: KeyFilter | undefined): Condition;
  /** Documents that have at least one label of each group; all, if there are no groups. */
  labelled(index: WordIndex, groups: readonly (readonly string[])[]): KeyFilter | undefined;
  /** Matches that have an essential word of the plan. */
  candidates(on: Statements, index: WordIndex, asked: CandidateRequest): Promise<Candidates>;
}

/** What the databases do differently with passages: how their labels are indexed. */
export interface PassageTable {
  /** Before all passages of a document are given other labels. */
  relabel(on: Statements, parent: string, labels: readonly string[]): Promise<void>;
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
  /** Behind a SELECT of a model that must not be dropped until the end. */
  readonly keepModel: string;
  /** Before a model is listed: no text may be written by somebody who cannot see it yet and would not enlist the text. */
  beforeModel(on: Statements, corpus: VectorCorpus): Promise<void>;
  /** Before vectors are inserted: where images in memory follow the keys, none must appear behind a later one. */
  beforeVectors(on: Statements, corpus: VectorCorpus): Promise<void>;
  /** The vectors of a model behind a key, ascending. */
  after(
    on: Statements,
    corpus: VectorCorpus,
    model: number,
    range: Pick<VectorsAfter, 'after' | 'limit'>,
  ): Promise<VectorBlock>;
  /** Packs the first vectors behind a key into a block. Its last key; undefined when there is nothing left to pack. */
  pack(on: Statements, corpus: VectorCorpus, model: number, after: number): Promise<number | undefined>;
  /** Has the index of a model, which is on disk, made in the background, where the database has one and it is missing. */
  ensureIndex(corpus: VectorCorpus, model: StoredModel): void;
  indexState(on: Statements, corpus: VectorCorpus, model: number): Promise<ModelState['index']>;
  /** Finds the nearest vectors, where the database has an index for that. */
  readonly nearest?: NearestFinders | undefined;
}

export interface StorageDescription {
  readonly backend: 'sqlite' | 'postgres';
  /** Of the database engine. */
  readonly version: string;
  readonly schema: number;
  readonly bytes: number;
}
