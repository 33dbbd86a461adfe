import type { ScoredWords, ScoreWordsRequest } from '../../words/ranking/word-index.ts';
import type { Statements } from '../dialect.ts';
import { numberOf, type Row, textOf, textsOf } from '../rows.ts';
import { reads, type StoreOf } from '../store-operations.ts';
import { matchingPassages, readPassageSnapshot, scoreVectors } from '../vectors/read-vectors.ts';
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
export async function findPassages(on: Statements, { words, near }: FindPassages): Promise<FoundPassages> {
  return {
    near: near && (await readPassageSnapshot(on, near)),
    words: words && (await searchPassages(on, words)),
  };
}

export async function completePassages(
  on: Statements,
  { query, vectors, ownersMax, ...request }: CompletePassages,
): Promise<CompletedPassages> {
  const { nearest } = on.dialect.vectors;
  const scored =
    vectors === undefined
      ? []
      : 'keys' in vectors
        ? await scoreVectors(on, { corpus: 'kb', ...vectors })
        : ((await nearest?.kb(on, vectors)) ?? []);
  const ordered = scored.toSorted((left, right) => right.score - left.score);
  const owners = [...new Set(ordered.map(({ owner }) => owner))].slice(0, ownersMax);
  const keys = [...new Set([...request.keys, ...owners])];
  return {
    scored,
    words: query && (await scorePassageWords(on, { query, keys })),
    passages: await getPassages(on, keys),
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

/**
 * The searchable parts of documents. A document's passages are written together, so a reader sees either all old or all new
 * ones.
 */
export type PassageStore = StoreOf<typeof passageOperations>;

/** Returns passages in the order of the keys. Omits unknown keys. */
export async function getPassages(on: Statements, keys: readonly number[]): Promise<StoredPassage[]> {
  const rows = await rowsByKey(on, '*', keys);
  return keys.flatMap((key) => {
    const row = rows.get(key);
    return row === undefined ? [] : [passageOf(row)];
  });
}

/** Searches by words. Returns the most relevant passages first; ties are ordered by id. */
export async function searchPassages(
  on: Statements,
  { query, filter: { labels = [] } = {}, ...page }: PassageSearch,
): Promise<PassagePage> {
  const keyFilter = on.dialect.words.labelled(passageWords, labels);
  const { found, total, scoreMax, corrected } = await findWords(on, passageWords, query, keyFilter, page);
  const keys = found.map(({ key }) => key);
  const rows = await rowsByKey(on, 'key, id, parent, position', keys);
  const hits = found.flatMap(({ key, ...scores }) => {
    const row = rows.get(key);
    if (row === undefined) return [];
    const [id, parent, position] = [textOf(row, 'id'), textOf(row, 'parent'), numberOf(row, 'position')];
    return [{ key, id, parent, position, ...scores }];
  });
  return { hits, total, scoreMax, corrected };
}

/** Scores the passages with these keys for each term of a query. */
export async function scorePassageWords(on: Statements, request: ScoreWordsRequest): Promise<ScoredWords> {
  return scoreWords(on, passageWords, request);
}

async function rowsByKey(on: Statements, columns: string, keys: readonly number[]): Promise<Map<number, Row>> {
  const { integers } = on.dialect;
  const sql = `SELECT ${columns} FROM kb_passages WHERE key IN (${integers})`;
  const rows = await on.query(sql, [{ list: keys }]);
  return new Map(rows.map((row) => [numberOf(row, 'key'), row]));
}

function passageOf(row: Row): StoredPassage {
  return {
    key: numberOf(row, 'key'),
    id: textOf(row, 'id'),
    parent: textOf(row, 'parent'),
    position: numberOf(row, 'position'),
    title: textOf(row, 'title'),
    headings: textsOf(row, 'headings'),
    body: textOf(row, 'body'),
    labels: textsOf(row, 'labels'),
  };
}
