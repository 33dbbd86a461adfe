import {
  countedLeaves,
  createScorer,
  type DocumentScore,
  type DocumentTerms,
  documentsOf,
  highestScore,
  type IndexStatistics,
  leafWeight,
  nearIn,
  weighTerms,
} from '../../../words/ranking/bm25.ts';
import { essentialDocuments, isSettled, planCandidates } from '../../../words/ranking/candidates.ts';
import { type Candidate, rankPool, weighPool } from '../../../words/ranking/rank-pool.ts';
import {
  type FoundPage,
  type MendedWord,
  type Page,
  type Ranked,
  type WeighedDocument,
  type WeighedWords,
  type WeighRequest,
  weighedMax,
} from '../../../words/ranking/word-index.ts';
import { leafKey, leavesOf, type WordLeaf, type WordQuery } from '../../../words/word-query.ts';
import type { KeyFilter, Statements, WordIndex } from '../../dialect.ts';
import { type Condition, numberOf, type Row, textOf } from '../../rows.ts';
import { mendQuery } from './mend-query.ts';

/** Candidates that are scored exactly, each of which is read. Behind them come the other matches, the newest first. */
const poolMax = 200;

/** The database finds candidates and puts them in a rough order; our own BM25 decides. */
export async function findWords(
  on: Statements,
  index: WordIndex,
  asked: WordQuery,
  filter: KeyFilter | undefined,
  { limit, offset, counts = true }: Page,
): Promise<FoundPage> {
  if (asked.kind === 'nothing') return { found: [], total: 0, scoreMax: 0, mended: [] };
  const query = await mendQuery(on, index, asked, countLeaves);
  const narrowed = filter && on.dialect.words.narrow(filter);
  const { pool, scoreMax, mended, ...known } = await findPool(on, index, query, narrowed);
  const total = known.total ?? (counts ? await countMatches(on, index, query, narrowed) : undefined);
  const found = pool.slice(offset, offset + limit);
  const wanted = Math.min(limit, (total ?? Number.POSITIVE_INFINITY) - offset) - found.length;
  if (wanted > 0) {
    const missing = { limit: wanted, offset: Math.max(0, offset - pool.length) };
    found.push(...(await behindPool(on, index, query, narrowed, pool, missing)));
  }
  return { found, total: total ?? offset + found.length, scoreMax, mended };
}

export async function weighWords(
  on: Statements,
  index: WordIndex,
  { query, keys }: WeighRequest,
): Promise<WeighedWords> {
  const leaves = leavesOf(await mendQuery(on, index, query, countLeaves));
  const { statistics, counts } = await countLeaves(on, index, leaves);
  const weigh = weighTerms(leaves, counts, statistics);
  const weighed: WeighedDocument[] = [];
  for (const list of batches(keys.slice(0, weighedMax), statistics)) {
    const rows = await on.query(
      `SELECT * FROM ${on.dialect.schema}${index.name}_terms WHERE key IN (${on.dialect.integers})`,
      [{ list }],
    );
    const documents = rows.map((row) => ({ key: numberOf(row, 'key'), terms: documentTerms(row) }));
    weighed.push(...weighPool(documents, weigh));
  }
  return {
    weighed,
    scoreMax: highestScore(leaves, counts, statistics),
  };
}

interface Pool {
  readonly pool: Ranked[];
  /** Of all matches, where it is known already. */
  readonly total: number | undefined;
  readonly scoreMax: number;
  readonly mended: readonly MendedWord[];
}

async function findPool(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  narrowed: Condition | undefined,
): Promise<Pool> {
  const leaves = leavesOf(query);
  const { statistics, counts } = await countLeaves(on, index, leaves);
  const weightOf = (leaf: WordLeaf) => leafWeight(leaf, counts, statistics.documents);
  const rarest = (leaf: WordLeaf) => documentsOf(leaf, counts);
  const score = createScorer(leaves, counts, statistics);
  const scoreMax = highestScore(leaves, counts, statistics);
  const { words } = on.dialect;
  let found: Pool = { pool: [], total: undefined, scoreMax, mended: [] };
  for (const documentsMin of essentialDocuments(query, leaves)) {
    const plan = planCandidates(leaves, rarest, documentsMin);
    const isComplete = plan.optional.length === 0;
    const matches = words.matches(index, query, narrowed, plan);
    const order = words.order(index, plan, weightOf);
    const rows = await on.query(
      `SELECT ${words.key} AS key ${matches.sql} ORDER BY ${order.sql}, ${words.key} LIMIT ${poolMax}`,
      [...matches.values, ...order.values],
    );
    const keys = rows.map((row) => numberOf(row, 'key'));
    const near = leaves.filter((leaf) => leaf.kind === 'near').map((leaf) => ({ leaf, terms: new Set<string>() }));
    const noted = (terms: DocumentTerms) => {
      for (const each of near) for (const term of nearIn(each.leaf, terms)) each.terms.add(term);
      return score(terms);
    };
    const scored = await candidates(on, index, batches(keys, statistics), noted);
    const pool = rankPool(scored, scoreMax);
    const total = isComplete && keys.length < poolMax ? keys.length : undefined;
    // Only what is in documents that pass the filter: the others may not be the caller's to see.
    const mended = near.filter(({ terms }) => terms.size > 0);
    found = {
      ...{ pool, total, scoreMax },
      mended: mended.map(({ leaf, terms }) => ({ word: leaf.written, terms: [...terms] })),
    };
    const scores = pool.map((ranked) => ranked.score);
    if (isSettled(documentsMin, query, plan, scores, poolMax, weightOf)) break;
  }
  return found;
}

async function candidates(
  on: Statements,
  { name, owner, ties }: WordIndex,
  keys: Iterable<readonly number[]>,
  score: (terms: DocumentTerms) => DocumentScore,
): Promise<Candidate[]> {
  const { schema, integers } = on.dialect;
  const [id, owners] = ties === 'id' ? [', o.id', `JOIN ${schema}${owner} o ON o.key = t.key`] : ['', ''];
  const found: Candidate[] = [];
  for (const list of keys) {
    const rows = await on.query(
      `SELECT t.*${id} FROM ${schema}${name}_terms t ${owners} WHERE t.key IN (${integers})`,
      [{ list }],
    );
    for (const row of rows) {
      found.push({
        key: numberOf(row, 'key'),
        id: ties === 'id' ? textOf(row, 'id') : '',
        ...score(documentTerms(row)),
      });
    }
  }
  return found;
}

/** Terms that are read at a time: a few megabytes. */
const batchTerms = 500_000;
const batchMin = 4;

/** Keys of documents that are read together: of long ones, fewer. The usual ones are one batch. */
function* batches(keys: readonly number[], { averageLengths }: IndexStatistics): Generator<readonly number[]> {
  const { title, heading, body } = averageLengths;
  const size = Math.max(batchMin, Math.floor(batchTerms / Math.max(1, title + heading + body)));
  for (let at = 0; at < keys.length; at += size) yield keys.slice(at, at + size);
}

async function behindPool(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  narrowed: Condition | undefined,
  pool: readonly Ranked[],
  { limit, offset }: Page,
): Promise<Ranked[]> {
  const { words, integers } = on.dialect;
  const { sql, values } = words.matches(index, query, narrowed);
  const rows = await on.query(
    `SELECT ${words.key} AS key ${sql} AND ${words.key} NOT IN (${integers}) ORDER BY ${words.key} DESC LIMIT ? OFFSET ?`,
    [...values, { list: pool.map(({ key }) => key) }, limit, offset],
  );
  return rows.map((row) => ({ key: numberOf(row, 'key'), score: 0 }));
}

async function countMatches(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  narrowed: Condition | undefined,
): Promise<number> {
  const { sql, values } = on.dialect.words.matches(index, query, narrowed);
  const [row = {}] = await on.query(
    `SELECT count(*) AS total FROM (SELECT 1 ${sql} LIMIT ${index.totalMax}) AS matches`,
    values,
  );
  return numberOf(row, 'total');
}

async function countLeaves(
  on: Statements,
  index: WordIndex,
  leaves: readonly WordLeaf[],
): Promise<{ statistics: IndexStatistics; counts: Map<string, number> }> {
  const statistics = await readStatistics(on, index);
  const { words } = on.dialect;
  const counts = words.counts(index.name, statistics);
  const unknown = countedLeaves(leaves).filter((leaf) => !counts.has(leafKey(leaf)));
  if (unknown.length > 0) {
    const totals = await words.count(on, index, unknown, statistics.documents);
    unknown.forEach((leaf, place) => {
      counts.set(leafKey(leaf), totals[place] ?? 0);
    });
  }
  return { statistics, counts };
}

/** PostgreSQL keeps the sums in several rows, so that writers need not wait for one another. */
async function readStatistics(on: Statements, { name }: WordIndex): Promise<IndexStatistics> {
  const [row = {}] = await on.query(
    `SELECT sum(documents) AS documents, sum(title_length) AS title, sum(heading_length) AS heading,
       sum(body_length) AS body FROM ${on.dialect.schema}${name}_statistics`,
  );
  const documents = numberOf(row, 'documents');
  const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
  return { documents, averageLengths: { title: mean('title'), heading: mean('heading'), body: mean('body') } };
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
