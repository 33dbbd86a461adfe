import {
  createScorer,
  type DocumentScore,
  type DocumentTerms,
  documentsOf,
  highestScore,
  leafWeight,
  nearIn,
  weighTerms,
} from '../../../words/ranking/bm25.ts';
import {
  type CandidatePlan,
  essentialDocuments,
  isOpen,
  isSettled,
  planCandidates,
  weighedWords,
} from '../../../words/ranking/candidates.ts';
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
import { leavesOf, type WordLeaf, type WordQuery } from '../../../words/word-query.ts';
import type { KeyFilter, Statements, WordIndex } from '../../dialect.ts';
import { type Condition, numberOf, type Row, textOf } from '../../rows.ts';
import { createLeafCounts, type KnownWords, type LeafCounts } from './leaf-counts.ts';
import { countMatches, type ListedMatches, listMatches, poolMax } from './list-matches.ts';
import { firstByWeight, highestBut, weighedWordsOf } from './listed-matches.ts';
import { mendQuery } from './mend-query.ts';
import { firstOfRarest, isWordList, type RarestDocuments, testingCost } from './rarest-words.ts';
import { type Batch, batches } from './term-batches.ts';

export interface FindRequest extends Page {
  /** Of what is found in the read: `last` where it ends with that. See Statements. */
  readonly place?: Place;
}

type Place = 'last' | undefined;

/** The database finds candidates and puts them in a rough order; our own BM25 decides. Words are counted while the filter is made. */
export async function findWords(
  on: Statements,
  index: WordIndex,
  asked: WordQuery,
  filtering: KeyFilter | undefined | Promise<KeyFilter | undefined>,
  { limit, offset, counts = true, place }: FindRequest,
): Promise<FoundPage> {
  const counted = createLeafCounts(on, index);
  const [query, wanted] = await Promise.all([mendQuery(on, index, asked, counted.count), filtering]);
  if (query.kind === 'nothing') return { found: [], total: 0, scoreMax: 0, mended: [] };
  const { isLabelled } = await counted.count([]);
  const filter = isLabelled ? wanted : wanted && { ...wanted, onWords: undefined };
  const leaves = filter?.onWords === undefined ? counted : await counted.within(filter);
  const isInPool = offset + limit <= poolMax;
  const listed = await listMatches(on, index, query, filter, leaves, { isInPool, counts, place });
  const narrowed = filter && listed === undefined ? on.dialect.words.narrow(filter) : undefined;
  const { pool, scoreMax, mended, ...known } = await findPool(
    on,
    index,
    query,
    narrowed,
    leaves,
    listed && { ...listed, place },
  );
  const total = known.total ?? (counts ? await countMatches(on, index, query, narrowed, leaves) : undefined);
  const found = pool.slice(offset, offset + limit);
  const behind = Math.min(limit, (total ?? Number.POSITIVE_INFINITY) - offset) - found.length;
  if (behind > 0) {
    const missing = { limit: behind, offset: Math.max(0, offset - pool.length) };
    found.push(
      ...(listed === undefined
        ? await behindPool(on, index, query, narrowed, pool, missing)
        : behindListed(listed.keys, pool, missing)),
    );
  }
  return { found, total: total ?? offset + found.length, scoreMax, mended };
}

export async function weighWords(
  on: Statements,
  index: WordIndex,
  { query, keys }: WeighRequest,
  place?: Place,
): Promise<WeighedWords> {
  const leafCounts = createLeafCounts(on, index);
  const leaves = leavesOf(await mendQuery(on, index, query, leafCounts.count));
  const { statistics, counts } = await leafCounts.count(leaves);
  const weigh = weighTerms(leaves, counts, statistics);
  const weighed: WeighedDocument[] = [];
  for (const { list, isLast } of batches(keys.slice(0, weighedMax), statistics)) {
    const rows = await on.query(
      `SELECT * FROM ${on.dialect.schema}${index.name}_terms WHERE key IN (${on.dialect.fewIntegers})`,
      [{ list }],
      isLast ? place : undefined,
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
  leafCounts: LeafCounts,
  listed: (ListedMatches & Pick<FindRequest, 'place'>) | undefined,
): Promise<Pool> {
  const leaves = leavesOf(query);
  const known = await leafCounts.count(leaves);
  const { statistics, counts } = known;
  const weightOf = (leaf: WordLeaf) => leafWeight(leaf, counts, statistics.documents);
  const rarity = (leaf: WordLeaf) => documentsOf(leaf, counts);
  const score = createScorer(leaves, counts, statistics);
  const scoreMax = highestScore(leaves, counts, statistics);
  let found: Pool = { pool: [], total: undefined, scoreMax, mended: [] };
  for (const documentsMin of listed === undefined ? essentialDocuments(query, leaves) : [Number.POSITIVE_INFINITY]) {
    const plan = planCandidates(leaves, rarity, documentsMin);
    const isComplete = plan.optional.length === 0;
    const isIndexed = listed === undefined && (narrowed === undefined || leafCounts.filter !== undefined);
    const rarest = isIndexed ? await rarestCandidates(on, index, query, leafCounts, known, plan) : undefined;
    if (rarest && isOpen(documentsMin, query, plan, rarest.weightBehind, weightOf)) continue;
    const keys =
      rarest?.first ??
      listed?.first ??
      (listed === undefined
        ? await candidateKeys(on, index, query, narrowed, plan, weightOf)
        : firstByWeight(listed.keys, weighedWordsOf(plan, known), leafCounts.lists, poolMax));
    const near = leaves.filter((leaf) => leaf.kind === 'near').map((leaf) => ({ leaf, terms: new Set<string>() }));
    const noted = (terms: DocumentTerms) => {
      for (const each of near) for (const term of nearIn(each.leaf, terms)) each.terms.add(term);
      return score(terms);
    };
    const scored = listed?.terms
      ? scoredOf(keys, listed.terms, noted)
      : await candidates(on, index, batches(keys, statistics), noted, listed?.place);
    const pool = rankPool(scored, scoreMax);
    const counted = listed?.total ?? (isComplete && keys.length < poolMax ? keys.length : undefined);
    const total = counted && Math.min(counted, index.totalMax);
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

/** The same as `candidateKeys`, where the rarest words tell. */
async function rarestCandidates(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  leaves: LeafCounts,
  known: KnownWords,
  plan: CandidatePlan,
): Promise<RarestDocuments | undefined> {
  if (!isWordList(query)) return undefined;
  const rows = leaves.share * plan.essential.reduce((sum, leaf) => sum + documentsOf(leaf, known.counts), 0);
  const cost = testingCost(rows, weighedWords(plan).length, known.statistics.documents);
  return firstOfRarest(on, index, leaves, known, { plan, limit: poolMax, cost });
}

async function candidateKeys(
  on: Statements,
  index: WordIndex,
  query: WordQuery,
  narrowed: Condition | undefined,
  plan: CandidatePlan,
  weightOf: (leaf: WordLeaf) => number,
): Promise<number[]> {
  const { words } = on.dialect;
  const matches = words.matches(index, query, narrowed, plan);
  const order = words.order(index, plan, weightOf);
  const rows = await on.query(
    `SELECT ${words.key} AS key ${matches.sql} ORDER BY ${order.sql}, ${words.key} LIMIT ${poolMax}`,
    [...matches.values, ...order.values],
  );
  return rows.map((row) => numberOf(row, 'key'));
}

function scoredOf(
  keys: readonly number[],
  known: ReadonlyMap<number, DocumentTerms>,
  score: (terms: DocumentTerms) => DocumentScore,
): Candidate[] {
  const found: Candidate[] = [];
  for (const key of keys) {
    const terms = known.get(key);
    if (terms !== undefined) found.push({ key, id: '', ...score(terms) });
  }
  return found;
}

async function candidates(
  on: Statements,
  { name, owner, ties }: WordIndex,
  keys: Iterable<Batch>,
  score: (terms: DocumentTerms) => DocumentScore,
  place: Place,
): Promise<Candidate[]> {
  const { schema, fewIntegers } = on.dialect;
  const [id, owners] = ties === 'id' ? [', o.id', `JOIN ${schema}${owner} o ON o.key = t.key`] : ['', ''];
  const found: Candidate[] = [];
  for (const { list, isLast } of keys) {
    const rows = await on.query(
      `SELECT t.*${id} FROM ${schema}${name}_terms t ${owners} WHERE t.key IN (${fewIntegers})`,
      [{ list }],
      isLast ? place : undefined,
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

function behindListed(listed: Float64Array, pool: readonly Ranked[], page: Page): Ranked[] {
  const ranked = new Set(pool.map(({ key }) => key));
  return highestBut(listed, ranked, page).map((key) => ({ key, score: 0 }));
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
