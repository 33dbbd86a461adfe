import type { DocumentTerms } from '../words/ranking/bm25.ts';
import type { CandidatePlan, CountCache } from '../words/ranking/candidates.ts';
import type { IndexedTexts } from '../words/ranking/word-index.ts';
import type { Vocabulary } from '../words/vocabulary.ts';
import type { WordLeaf, WordQuery } from '../words/word-query.ts';
import type { StagedOriginal } from './contracts/ingestion.ts';
import type { PassageFilter } from './contracts/passages.ts';
import type { StorageDescription } from './contracts/storage.ts';
import type { ModelState, VectorBlock, VectorCorpus, VectorsAfter } from './contracts/vectors.ts';
import type { IdPages } from './id-set.ts';
import type { BoundValue, Condition, Row } from './rows.ts';

/** The statements of one transaction, or of one consistent read. Stores are written on nothing else. */
export interface Statements {
  readonly dialect: Dialect;
  /** When the call was made: ISO 8601, UTC. */
  readonly now: string;
  /** SQL texts are constant; values are bound to question marks and never put into the text. */
  query(sql: string, values?: readonly BoundValue[], place?: Place): Promise<Row[]>;
}

/**
 * `last`: as a rule nothing follows in this read, so that it ends along with it. What does follow begins anew, and may see a
 * later state. `steady`: a short answer that seldom changes. A read may go on with what it was the last time, and is repeated
 * if that has changed.
 */
export type Place = 'last' | 'steady';

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
  /** The last characters of the first text, as many as the second has. */
  ending(text: string, part: string): string;
  /**
   * Whether what lies at a path in a JSON text is a number on this side of another; of what is no number it may say either,
   * and of one that equals the other as a double. Binds the path, as `jsonPath` writes it, and the other number.
   */
  orderedInJson(json: string, sign: '<' | '<=' | '>' | '>='): string;
  /** Of keys that need no escaping. */
  jsonPath(keys: readonly string[]): string;
  /** Of two values. */
  least(first: string, second: string): string;
  greatest(first: string, second: string): string;
  /** Behind a SELECT whose rows will be changed. */
  readonly forUpdate: string;
  /** Behind a SELECT whose rows must stay as they are until the end. */
  readonly forShare: string;
  /** Admits one transaction at a time for each text of a list. Undefined if there is only one writer. */
  readonly lock: string | undefined;
  /**
   * Until the end. `exclusive`: others only read the table, and lock none of its rows. `shared`: what every writer has of a
   * table, so that nobody has it exclusively. Undefined if there is only one writer.
   */
  lockTable(table: string, how: 'shared' | 'exclusive'): string | undefined;
  /**
   * Of fields `f` that are texts and no members: those with a path and a head, which it binds, and perhaps others. Known entries
   * are tested faster by it. Undefined without an index by it.
   */
  readonly textAt: string | undefined;
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
  readonly keys: GivenKeys;
  /** Undefined where to look again costs next to nothing. */
  readonly verdicts: VerdictCache | undefined;
  readonly words: WordTable;
  readonly notes: NoteTable;
  readonly passages: PassageTable;
  readonly vectors: VectorTable;
  readonly originals: Originals;
  describe(on: Statements): Promise<StorageDescription>;
  /** Compares the stored data with the indexes. Returns the problems, one sentence each. */
  check(on: Statements): Promise<string[]>;
}

/** Whether a condition holds for many rows, as `look` tells now or told lately. It decides how something is found, never what. */
export type VerdictCache = (condition: Condition, look: () => Promise<boolean>) => Promise<boolean>;

export type ColumnType = 'text' | 'bigint' | 'integer' | 'float8';

/** Keys that rows bring with them, into a table that generates them as a rule. */
export interface GivenKeys {
  /** The highest that any row has ever had. Nobody else adds a row until the end of the transaction. */
  highest(on: Statements, table: string): Promise<number>;
  /** Behind the columns of an INSERT that has the key. */
  readonly given: string;
  /** Generated keys follow this one. */
  advance(on: Statements, table: string, key: number): Promise<void>;
}

/** Where the databases differ for notes: how their tags are indexed. */
export interface NoteTable {
  /** Besides the list in the note itself. Replaces what was indexed of the note. */
  indexTags(on: Statements, note: number, tags: readonly string[]): Promise<void>;
  /** The notes that have one of the spellings of each of these tags; each is returned once. */
  tagged(tags: readonly (readonly string[])[]): KeyFilter;
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
  /** What is indexed of a row of the owner. */
  textsOf(row: Row): IndexedTexts;
}

/** A SELECT of the keys that may be found, in a column of that name, in any order and perhaps several times. */
export interface KeyFilter extends Condition {
  /** So many pass that each document found is tested, instead of listing the keys first. */
  readonly isWide?: boolean;
  /** The same as a condition on `o`, where that asks for nothing but `o.key` of documents that are indexed. */
  readonly onKeys?: Condition | undefined;
  /** The same again, where it says no more than that there are such rows of each key. */
  readonly rows?: readonly KeyRows[] | undefined;
  /** The same as a condition on the rows `w` of words, where their index tells that along with the words. */
  readonly onWords?: Condition | undefined;
}

/** `SELECT key FROM sql` gives the keys that have such a row, perhaps several times. It ends with a condition. */
export interface KeyRows extends Condition {
  readonly key: string;
}

/**
 * The words of each index as they are now. Words of documents that are gone may still be among them. The counts are those of
 * `WordTable.counts`: as long as they are the same, so are the words.
 */
export type VocabularyCache = (on: Statements, index: WordIndex, counts: object) => Promise<Vocabulary>;

export interface LeafCount {
  /** Of a common word, about as many. */
  readonly documents: number;
  /** Ascending. */
  readonly keys?: Float64Array | undefined;
}

export interface CountRequest {
  /** How many there are in all. */
  documents(): Promise<number>;
  /** Which ones they are is to be told, where they are few enough; of the others, that there are too many. */
  readonly keys?: boolean;
  /** Of those that pass, where keys are asked for. Only one that words are indexed with. */
  readonly filter?: KeyFilter | undefined;
}

/** Writes words of documents that are not in the index. The keys are in the order of the texts, and must ascend. */
export type WriteWords = (on: Statements, index: WordIndex, keys: readonly number[]) => Promise<void>;

export interface ListRequest {
  readonly query: WordQuery;
  readonly filter: KeyFilter | undefined;
  /** So many documents, those with the lowest keys, are told with their terms. */
  readonly first: number;
  /** Of the statement that tells terms. */
  readonly place: 'last' | undefined;
}

export interface ListedDocuments {
  /** Ascending. */
  readonly keys: Float64Array;
  /** Undefined where none were asked for. */
  readonly terms?: ReadonlyMap<number, DocumentTerms> | undefined;
}

export interface FoundRequest {
  readonly documents: number;
  /** See `WordTable.sums`. */
  readonly state: string | undefined;
  /** One that words are indexed with. */
  readonly filter: KeyFilter | undefined;
}

/** For a database that goes through its index anew in each statement: what is found is put together from one of them. */
export interface WordListing {
  /** `count` may tell which documents a leaf is in where they are no more than this. */
  readonly max: number;
  /** All documents that a query finds and that pass the filter. Undefined if there are too many. */
  matching(on: Statements, index: WordIndex, asked: ListRequest): Promise<ListedDocuments | undefined>;
  /** The documents that each of these finds and that pass, ascending; undefined where there are too many. Undefined if no index tells. */
  holding(
    on: Statements,
    index: WordIndex,
    queries: readonly WordQuery[],
    filter: KeyFilter | undefined,
  ): Promise<(Float64Array | undefined)[] | undefined>;
  /** About the share of documents that pass. It decides how something is found, never what. */
  shareOf(on: Statements, index: WordIndex, filter: KeyFilter): Promise<number>;
  /** Whether a query finds so many documents. */
  finds(on: Statements, index: WordIndex, query: WordQuery, asked: FoundRequest): Promise<boolean>;
  /** Whether that is known from before: it is as long as the state is the same. */
  isKnownToFind(index: WordIndex, query: WordQuery, asked: FoundRequest): boolean;
  /** Of these keys, those that pass the filter, ascending. */
  passing(on: Statements, filter: KeyFilter, keys: Float64Array): Promise<Float64Array>;
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
  cut(texts: readonly IndexedTexts[]): WriteWords;
  /** Undefined where `count` never tells which documents a leaf is in. */
  readonly listing: WordListing | undefined;
  /**
   * Of all documents: how many `documents` there are, and the number of terms in each `title`, `heading` and `body` together. Read
   * first. A `state`, if there is one, is another after each change. `labelled` is 1 where rows have their labels.
   */
  sums(on: Statements, index: WordIndex): Promise<Row>;
  /** In how many documents each of these is. */
  count(on: Statements, index: WordIndex, leaves: readonly WordLeaf[], asked: CountRequest): Promise<LeafCount[]>;
  /** The filter as a condition on the rows `w`, to be put behind another one. */
  narrow(filter: KeyFilter): Condition;
  /** `FROM … WHERE …`: the rows `w` that a query finds; with a plan, those that are candidates by it. */
  matches(index: WordIndex, query: WordQuery, narrowed: Condition | undefined, plan?: CandidatePlan): Condition;
  /** By which candidates are put in a rough order, the best first. */
  order(index: WordIndex, plan: CandidatePlan, weightOf: (leaf: WordLeaf) => number): Condition;
}

/** What the databases do differently with passages: how their labels are indexed. */
export interface PassageTable {
  /** Completes rows that were just inserted, whose keys follow one another: what no trigger does. */
  complete(
    on: Statements,
    rows: readonly { readonly key: number; readonly labels: readonly string[] }[],
  ): Promise<void>;
  /** Before all passages of these documents are given other labels. */
  relabel(on: Statements, parents: readonly string[], labels: readonly string[]): Promise<void>;
  /** Undefined where all may pass. */
  filter(filter: PassageFilter): KeyFilter | undefined;
  /** What a SELECT of keys gives. */
  keys(on: Statements, select: Condition): Promise<IdPages>;
}

export interface StoredModel {
  readonly key: number;
  /** Undefined until the first vector. */
  readonly dimensions: number | undefined;
}

/** What the databases do differently with vectors. */
export interface VectorTable {
  /** The components of a vector, as a column `vector` of a SELECT. */
  readonly column: string;
  encode(vector: Float32Array): Uint8Array;
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
}
