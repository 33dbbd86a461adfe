import type { ScoredWords, ScoreWordsRequest } from '../../words/ranking/word-index.ts';
import type { Statements } from '../dialect.ts';
import { columnsOf, field, numberOf, type Row, recordOf } from '../rows.ts';
import { reads, type StoreOf } from '../store-operations.ts';
import { matchingPassages, readPassageSnapshot, scoreVectors } from '../vectors/read-vectors.ts';
import type { ScoredVector } from '../vectors/vector.ts';
import { findWords, scoreWords } from '../words/find-words.ts';
import { passageWords } from '../words/word-indexes.ts';
import type {
  CompletedPassages,
  CompletePassages,
  FindPassages,
  FoundPassages,
  PassagePage,
  PassageSearch,
  StoredPassage,
} from './passage.ts';

/** The first read of a search. `completePassages` is the second. */
export async function findPassages(db: Statements, { words, nearest }: FindPassages): Promise<FoundPassages> {
  return {
    vectors: nearest && (await readPassageSnapshot(db, nearest)),
    words: words && (await searchPassages(db, words)),
  };
}

export async function completePassages(
  db: Statements,
  { query, vectors, ownersMax, ...request }: CompletePassages,
): Promise<CompletedPassages> {
  let scored: ScoredVector[] = [];
  if (vectors !== undefined && 'keys' in vectors) scored = await scoreVectors(db, { corpus: 'kb', ...vectors });
  else if (vectors !== undefined) scored = (await db.dialect.vectors.nearest?.kb(db, vectors)) ?? [];
  const ordered = scored.toSorted((left, right) => right.score - left.score);
  const owners = [...new Set(ordered.map(({ owner }) => owner))].slice(0, ownersMax);
  const keys = [...new Set([...request.keys, ...owners])];
  return {
    scored,
    words: query && (await scorePassageWords(db, { query, keys })),
    passages: await getPassages(db, keys),
  };
}

/** All operations are reads: passages are written with their documents. */
export const passageOperations = reads(
  {
    get: getPassages,
    search: searchPassages,
    find: findPassages,
    complete: completePassages,
    scoreWords: scorePassageWords,
    matching: matchingPassages,
  },
  { replica: true },
);

/** The searchable parts of documents. A reader sees either all old or all new passages of a document. */
export type PassageStore = StoreOf<typeof passageOperations>;

const hitFields = {
  key: field.number('key'),
  id: field.text('id'),
  parent: field.text('parent'),
  position: field.number('position'),
};

const passageFields = {
  ...hitFields,
  title: field.text('title'),
  headings: field.texts('headings'),
  body: field.text('body'),
  labels: field.texts('labels'),
};

/** Returns passages in the order of the keys. Omits unknown keys. */
export async function getPassages(db: Statements, keys: readonly number[]): Promise<StoredPassage[]> {
  const rows = await rowsByKey(db, columnsOf(passageFields), keys);
  return keys.flatMap((key) => {
    const row = rows.get(key);
    return row === undefined ? [] : [recordOf(passageFields, row)];
  });
}

/** Searches by words. Returns the most relevant passages first; ties are ordered by id. */
export async function searchPassages(
  db: Statements,
  { query, filter: { labels = [] } = {}, ...page }: PassageSearch,
): Promise<PassagePage> {
  const keyFilter = db.dialect.words.labelFilter(passageWords, labels);
  const { found, total, scoreMax, corrected } = await findWords(db, passageWords, query, keyFilter, page);
  const keys = found.map(({ key }) => key);
  const rows = await rowsByKey(db, columnsOf(hitFields), keys);
  const hits = found.flatMap(({ key, ...scores }) => {
    const row = rows.get(key);
    return row === undefined ? [] : [{ ...recordOf(hitFields, row), ...scores }];
  });
  return { hits, total, scoreMax, corrected };
}

/** Scores the passages with these keys for each term of a query. */
export async function scorePassageWords(db: Statements, request: ScoreWordsRequest): Promise<ScoredWords> {
  return scoreWords(db, passageWords, request);
}

async function rowsByKey(db: Statements, columns: string, keys: readonly number[]): Promise<Map<number, Row>> {
  const { integers } = db.dialect;
  const sql = `SELECT ${columns} FROM kb_passages WHERE key IN (${integers})`;
  const rows = await db.query(sql, [{ list: keys }]);
  return new Map(rows.map((row) => [numberOf(row, 'key'), row]));
}
