import type { DocumentTerms } from '../../words/document-terms.ts';
import {
  createScorer,
  documentsOf,
  highestScore,
  type IndexStatistics,
  leafWeight,
  scoreTerms,
  similarWordsIn,
} from '../../words/ranking/bm25.ts';
import { essentialDocumentsMin, isAlternatives, planCandidates, poolIsFinal } from '../../words/ranking/candidates.ts';
import { type Candidate, rankPool, scorePool } from '../../words/ranking/rank-pool.ts';
import {
  type CorrectedWord,
  type FoundPage,
  type Page,
  type Ranked,
  type ScoredDocument,
  type ScoredWords,
  type ScoreWordsRequest,
  scoredKeysMax,
} from '../../words/ranking/word-index.ts';
import { leavesOf, type WordLeaf, type WordQuery } from '../../words/word-query.ts';
import type { KeyFilter, Statements, WordIndex } from '../dialect.ts';
import { numberOf, type Row, textOf } from '../rows.ts';
import { correctQuery, createLeafCounts, type WordCounts } from './count-words.ts';

/** Max number of candidates that are scored exactly. Other matches follow them, newest first. */
const poolMax = 200;

/** The search of one index, with misspelt words of the query already corrected. */
interface Search {
  readonly db: Statements;
  readonly index: WordIndex;
  readonly query: WordQuery;
  readonly filter: KeyFilter | undefined;
  readonly words: WordCounts;
}

/** Finds documents by words. The database finds candidates in a rough order; Carrel's own BM25 ranks them. */
export async function findWords(
  db: Statements,
  index: WordIndex,
  requested: WordQuery,
  filter: KeyFilter | undefined,
  { limit, offset, counts = true }: Page,
): Promise<FoundPage> {
  const countLeaves = await createLeafCounts(db, index);
  const query = await correctQuery(db, index, requested, countLeaves);
  if (query.kind === 'nothing') return { found: [], total: 0, scoreMax: 0, corrected: [] };
  const search: Search = { db, index, query, filter, words: await countLeaves(leavesOf(query)) };
  const { pool, scoreMax, corrected, ...matched } = await findPool(search);
  const total = matched.total ?? (counts ? await countMatches(search) : undefined);
  const found = pool.slice(offset, offset + limit);
  const missing = Math.min(limit, (total ?? Number.POSITIVE_INFINITY) - offset) - found.length;
  if (missing > 0) {
    const page = { limit: missing, offset: Math.max(0, offset - pool.length) };
    found.push(...(await findAfterPool(search, pool, page)));
  }
  return { found, total: total ?? offset + found.length, scoreMax, corrected };
}

export async function scoreWords(
  db: Statements,
  index: WordIndex,
  { query, keys }: ScoreWordsRequest,
): Promise<ScoredWords> {
  const countLeaves = await createLeafCounts(db, index);
  const leaves = leavesOf(await correctQuery(db, index, query, countLeaves));
  const { statistics, counts } = await countLeaves(leaves);
  const scoreOf = scoreTerms(leaves, counts, statistics);
  const documents: ScoredDocument[] = [];
  for await (const rows of termRows(db, index, keys.slice(0, scoredKeysMax), statistics)) {
    documents.push(
      ...scorePool(
        rows.map((row) => ({ key: numberOf(row, 'key'), terms: documentTerms(row) })),
        scoreOf,
      ),
    );
  }
  return { documents, scoreMax: highestScore(leaves, counts, statistics) };
}

interface Pool {
  readonly pool: readonly Ranked[];
  /** Number of all matches, up to `totalMax`. Undefined if unknown. */
  readonly total: number | undefined;
  readonly scoreMax: number;
  readonly corrected: readonly CorrectedWord[];
}

/** Finds the best documents. Searches for the rarest words first, and adds others until the best can't change. */
async function findPool({ db, index, query, filter, words: { statistics, counts } }: Search): Promise<Pool> {
  const leaves = leavesOf(query);
  const weightOf = (leaf: WordLeaf) => leafWeight(leaf, counts, statistics.documents);
  const scoreMax = highestScore(leaves, counts, statistics);
  const score = createScorer(leaves, counts, statistics);
  let result: Pool = { pool: [], total: undefined, scoreMax, corrected: [] };
  for (const documentsMin of essentialDocumentsMin(query, leaves)) {
    const plan = planCandidates(leaves, (leaf) => documentsOf(leaf, counts), documentsMin);
    const { keys, total } = await db.dialect.words.candidates(db, index, {
      query,
      filter,
      plan,
      weightOf,
      limit: poolMax,
    });
    const misspelt = leaves.filter((leaf) => leaf.kind === 'fuzzy').map((leaf) => ({ leaf, terms: new Set<string>() }));
    /** The document with corrections for the most words; the higher score breaks ties. `corrected` lists its spellings first. */
    let best: { readonly similar: string[][]; readonly count: number; readonly score: number } | undefined;
    const scored: Candidate[] = [];
    for await (const rows of termRows(db, index, keys, statistics)) {
      for (const row of rows) {
        const terms = documentTerms(row);
        const similar = misspelt.map(({ leaf }) => similarWordsIn(leaf, terms));
        for (const [at, each] of misspelt.entries()) for (const term of similar[at] ?? []) each.terms.add(term);
        const id = index.tieBreaker === 'id' ? textOf(row, 'id') : '';
        const rank = score(terms);
        scored.push({ key: numberOf(row, 'key'), id, ...rank });
        const count = similar.filter((words) => words.length > 0).length;
        const isBetter = best === undefined || count > best.count || (count === best.count && rank.score > best.score);
        if (misspelt.length > 0 && isBetter) best = { similar, count, score: rank.score };
      }
    }
    const pool = rankPool(scored, scoreMax);
    const isComplete = plan.optional.length === 0;
    const all = total ?? (keys.length < poolMax ? keys.length : undefined);
    result = {
      pool,
      scoreMax,
      total: isComplete && all !== undefined ? Math.min(all, index.totalMax) : undefined,
      // Lists only words of documents that pass the filter, because the caller may not see other documents.
      corrected: misspelt
        .map(({ leaf, terms }, at) => ({
          word: leaf.written,
          terms: [...new Set([...(best?.similar[at] ?? []), ...terms])],
        }))
        .filter(({ terms }) => terms.length > 0),
    };
    const scores = pool.map((ranked) => ranked.score);
    if (poolIsFinal(documentsMin, query, plan, scores, poolMax, weightOf)) break;
  }
  return result;
}

/** Counts matches up to `totalMax`. If one common word alone reaches that number, counting that word is much faster. */
async function countMatches(search: Search): Promise<number> {
  const { index, query, words } = search;
  const isCommon = (leaf: WordLeaf) => leaf.kind === 'term' && documentsOf(leaf, words.counts) >= index.totalMax;
  const common = isAlternatives(query) ? leavesOf(query).find(isCommon) : undefined;
  const total = common === undefined ? 0 : await countUpToMax({ ...search, query: common });
  return total === index.totalMax ? total : countUpToMax(search);
}

async function countUpToMax({ db, index, query, filter }: Search): Promise<number> {
  const { sql, values } = db.dialect.words.matches(index, query, filter);
  const [row = {}] = await db.query(
    `SELECT count(*) AS total FROM (SELECT 1 ${sql} LIMIT ${index.totalMax}) AS matches`,
    values,
  );
  return numberOf(row, 'total');
}

async function findAfterPool(
  { db, index, query, filter }: Search,
  pool: readonly Ranked[],
  { limit, offset }: Page,
): Promise<Ranked[]> {
  const { words, integers, fence } = db.dialect;
  const { sql, values } = words.matches(index, query, filter);
  const rows = await db.query(
    `SELECT key FROM (SELECT ${words.key} AS key ${sql}${fence}) AS matches WHERE key NOT IN (${integers})
     ORDER BY key DESC LIMIT ? OFFSET ?`,
    [...values, { list: pool.map(({ key }) => key) }, limit, offset],
  );
  return rows.map((row) => ({ key: numberOf(row, 'key'), score: 0 }));
}

/** Max number of terms read at a time: a few megabytes. Short documents fit into one batch. */
const batchTerms = 500_000;
const batchMin = 4;

async function* termRows(
  db: Statements,
  { name, owner, tieBreaker }: WordIndex,
  keys: readonly number[],
  { averageLengths: { title, heading, body } }: IndexStatistics,
): AsyncGenerator<Row[]> {
  const { fewIntegers } = db.dialect;
  const [id, owners] = tieBreaker === 'id' ? [', o.id', `JOIN ${owner} o ON o.key = t.key`] : ['', ''];
  const size = Math.max(batchMin, Math.floor(batchTerms / Math.max(1, title + heading + body)));
  for (let at = 0; at < keys.length; at += size) {
    yield db.query(`SELECT t.*${id} FROM ${name}_terms t ${owners} WHERE t.key IN (${fewIntegers})`, [
      { list: keys.slice(at, at + size) },
    ]);
  }
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
