import { documentTermsOf } from '../../words/document-terms.ts';
import {
  countedLeaves,
  createScorer,
  type DocumentTerms,
  highestScore,
  type IndexStatistics,
  leafWeight,
  weighTerms,
} from '../../words/ranking/bm25.ts';
import {
  type CandidatePlan,
  createCountCache,
  essentialDocuments,
  isAlternatives,
  isSettled,
  planCandidates,
  weighedWords,
} from '../../words/ranking/candidates.ts';
import { type Candidate, rankPool, weighPool } from '../../words/ranking/rank-pool.ts';
import {
  countedMax,
  type FoundPage,
  type IndexedDocument,
  type Page,
  type Ranked,
  type WeighedWords,
  type WeighRequest,
  type WordIndexConfig,
  weighedMax,
} from '../../words/ranking/word-index.ts';
import { anyOf, leafKey, leavesOf, membersOf, type WordLeaf, type WordQuery } from '../../words/word-query.ts';
import { numberOf, type Row, type Statements, textOf } from './connections.ts';
import { type Condition, renderWords, tsquery } from './render-words.ts';

/** Full text of one kind of document. The tsvector finds candidates; our own BM25 puts them in order. */
export interface WordIndex {
  write(statements: Statements, documents: readonly IndexedDocument[]): Promise<void>;
  find(statements: Statements, query: WordQuery, filter: OwnerFilter, page: Page): Promise<FoundPage>;
  weigh(statements: Statements, request: WeighRequest): Promise<WeighedWords>;
}

/** A condition on the owner `o`, whose values are numbered from `$1`. Without `sql`, all may be found. */
export interface OwnerFilter {
  readonly sql: string | undefined;
  readonly values: readonly unknown[];
}

/** Rows that are looked at to estimate how many documents hold a very common word. */
const sampleRows = 1000;

interface Pool {
  pool: Ranked[];
  complete: boolean;
  scoreMax: number;
}

export function createWordIndex({ name, owner, poolMax, totalMax }: WordIndexConfig): WordIndex {
  const terms = `carrel.${name}_terms`;
  const words = `carrel.${name}_words`;
  const cache = createCountCache();
  return {
    async write(statements, documents) {
      const rows = documents.map(({ key, ...texts }) => {
        const { title: t, heading: h, body: b } = documentTermsOf(texts);
        return {
          key,
          streams: [t.main, t.extra, h.main, h.extra, b.main, b.extra],
          lengths: [t.length, h.length, b.length],
        };
      });
      const keys = rows.map(({ key }) => key);
      const column = (index: number) => rows.map(({ streams }) => streams[index]);
      const lengths = (index: number) => rows.map((row) => row.lengths[index]);
      await statements.query(
        `INSERT INTO ${terms} SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
           $7::text[], $8::integer[], $9::integer[], $10::integer[])`,
        [keys, ...[0, 1, 2, 3, 4, 5].map(column), ...[0, 1, 2].map(lengths)],
      );
      await statements.query(
        `INSERT INTO ${words} SELECT key, words::tsvector FROM unnest($1::bigint[], $2::text[]) AS fresh (key, words)`,
        [keys, rows.map(({ streams }) => vectorOf(streams))],
      );
    },
    async find(statements, query, filter, { limit, offset }) {
      if (query.kind === 'nothing') return { found: [], total: 0, scoreMax: 0 };
      const { pool, complete, scoreMax } = await findPool(statements, query, filter);
      const all = source(query, filter, undefined);
      const total = complete && pool.length < poolMax ? pool.length : await countMatches(statements, all);
      const found = pool.slice(offset, offset + limit);
      const missing = Math.min(limit, total - offset) - found.length;
      if (missing > 0) found.push(...(await behind(statements, pool, all, missing, Math.max(0, offset - pool.length))));
      return { found, total, scoreMax };
    },
    async weigh(statements, { query, keys }) {
      const leaves = leavesOf(query);
      const statistics = await readStatistics(statements);
      const counts = await countDocuments(statements, leaves, statistics);
      const rows = await statements.query(`SELECT * FROM ${terms} WHERE key = ANY ($1::bigint[])`, [
        keys.slice(0, weighedMax),
      ]);
      const documents = rows.map((row) => ({ key: numberOf(row, 'key'), terms: documentTerms(row) }));
      return {
        weighed: weighPool(documents, weighTerms(leaves, counts, statistics)),
        scoreMax: highestScore(leaves, counts, statistics),
      };
    },
  };

  /** The rows that a query finds, with the values that the text refers to. */
  function source(query: WordQuery, filter: OwnerFilter, must: string | undefined): Condition {
    const condition = renderWords(query, filter.values.length + 1, must);
    const joins = [
      condition.exact ? `JOIN ${terms} t ON t.key = w.key` : '',
      filter.sql === undefined ? '' : `JOIN carrel.${owner} o ON o.key = w.key`,
    ];
    return {
      sql: `FROM ${words} w ${joins.join(' ')} WHERE ${condition.sql} ${filter.sql === undefined ? '' : `AND ${filter.sql}`}`,
      values: [...filter.values, ...condition.values],
    };
  }

  async function findPool(statements: Statements, query: WordQuery, filter: OwnerFilter): Promise<Pool> {
    const leaves = leavesOf(query);
    const statistics = await readStatistics(statements);
    const counts = await countDocuments(statements, leaves, statistics);
    const weightOf = (leaf: WordLeaf) => leafWeight(leaf, counts, statistics.documents);
    const rarest = (leaf: WordLeaf) => Math.min(...membersOf(leaf).map((member) => counts.get(leafKey(member)) ?? 0));
    const score = createScorer(leaves, counts, statistics);
    const scoreMax = highestScore(leaves, counts, statistics);
    let found: Pool = { pool: [], complete: false, scoreMax };
    for (const documentsMin of essentialDocuments(query, leaves)) {
      const plan = planCandidates(leaves, rarest, documentsMin);
      const pool = rankPool(await candidates(statements, query, filter, plan, weightOf), score);
      found = { pool, complete: plan.optional.length === 0, scoreMax };
      const scores = pool.map((ranked) => ranked.score);
      if (isSettled(documentsMin, query, plan, scores, poolMax, weightOf)) break;
    }
    return found;
  }

  async function candidates(
    statements: Statements,
    query: WordQuery,
    filter: OwnerFilter,
    plan: CandidatePlan,
    weightOf: (leaf: WordLeaf) => number,
  ): Promise<Candidate[]> {
    const must = plan.optional.length === 0 ? undefined : tsquery(anyOf(plan.essential));
    // Alternatives need not be tested once an essential one is there.
    const asked = must !== undefined && isAlternatives(query) ? anyOf(plan.essential) : query;
    const { sql, values } = source(asked, filter, asked === query ? must : undefined);
    const weighed = weighedWords(plan);
    const next = values.length + 1;
    const rough = weighed.map(
      (_, index) =>
        `CASE WHEN w.words @@ ($${next}::tsquery[])[${index + 1}] THEN ($${next + 1}::float8[])[${index + 1}] ELSE 0 END`,
    );
    const rows = await statements.query(
      `SELECT t.*, o.id FROM (
         SELECT w.key ${sql} ORDER BY ${rough.join(' + ')} DESC, w.key LIMIT ${poolMax}
       ) c JOIN ${terms} t ON t.key = c.key JOIN carrel.${owner} o ON o.key = c.key`,
      [...values, weighed.map(tsquery), weighed.map(weightOf)],
    );
    return rows.map((row) => ({ key: numberOf(row, 'key'), id: textOf(row, 'id'), terms: documentTerms(row) }));
  }

  async function behind(
    statements: Statements,
    pool: readonly Ranked[],
    all: Condition,
    limit: number,
    offset: number,
  ): Promise<Ranked[]> {
    const next = all.values.length + 1;
    const rows = await statements.query(
      `SELECT w.key ${all.sql} AND w.key <> ALL ($${next}::bigint[]) ORDER BY w.key DESC LIMIT $${next + 1} OFFSET $${next + 2}`,
      [...all.values, pool.map(({ key }) => key), limit, offset],
    );
    return rows.map((row) => ({ key: numberOf(row, 'key'), score: 0 }));
  }

  async function countMatches(statements: Statements, { sql, values }: Condition): Promise<number> {
    const [row = {}] = await statements.query(
      `SELECT count(*) AS total FROM (SELECT 1 ${sql} LIMIT ${totalMax}) AS matches`,
      values,
    );
    return numberOf(row, 'total');
  }

  async function countDocuments(
    statements: Statements,
    leaves: readonly WordLeaf[],
    statistics: IndexStatistics,
  ): Promise<Map<string, number>> {
    const counts = cache(name, statistics);
    const unknown = countedLeaves(leaves).filter((leaf) => !counts.has(leafKey(leaf)));
    if (unknown.length === 0) return counts;
    const totals = await totalsOf(
      statements,
      `SELECT q.place, (SELECT count(*) FROM (SELECT 1 FROM ${words} w WHERE w.words @@ q.words LIMIT ${countedMax}) m) AS total
       FROM unnest($1::tsquery[]) WITH ORDINALITY AS q (words, place)`,
      [unknown.map(tsquery)],
    );
    const common = unknown.filter((_, index) => (totals[index] ?? 0) >= countedMax);
    const shares = common.length === 0 ? [] : await sample(statements, common, statistics.documents);
    unknown.forEach((leaf, index) => {
      const share = shares[common.indexOf(leaf)];
      const total = totals[index] ?? 0;
      counts.set(
        leafKey(leaf),
        share === undefined ? total : Math.max(total, Math.round(share * statistics.documents)),
      );
    });
    return counts;
  }

  /** The shares of documents that hold each word. The same rows are taken each time, so that the same order results. */
  async function sample(statements: Statements, leaves: readonly WordLeaf[], documents: number): Promise<number[]> {
    const percent = Math.min(100, (100 * sampleRows) / Math.max(1, documents));
    const rows = await totalsOf(
      statements,
      `WITH s AS MATERIALIZED (SELECT words FROM ${words} TABLESAMPLE SYSTEM ($2) REPEATABLE (1))
       SELECT q.place, (SELECT avg((s.words @@ q.words)::int) FROM s) AS total
       FROM unnest($1::tsquery[]) WITH ORDINALITY AS q (words, place)`,
      [leaves.map(tsquery), percent],
    );
    return leaves.map((_, index) => rows[index] ?? 0);
  }

  async function readStatistics(statements: Statements): Promise<IndexStatistics> {
    const [row = {}] = await statements.query(
      `SELECT sum(documents) AS documents, sum(title_length) AS title, sum(heading_length) AS heading,
         sum(body_length) AS body FROM carrel.${name}_statistics`,
    );
    const documents = numberOf(row, 'documents');
    const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
    return { documents, averageLengths: { title: mean('title'), heading: mean('heading'), body: mean('body') } };
  }
}

async function totalsOf(statements: Statements, sql: string, values: readonly unknown[]): Promise<number[]> {
  const totals: number[] = [];
  for (const row of await statements.query(sql, values)) {
    totals[numberOf(row, 'place') - 1] = row['total'] === null ? 0 : numberOf(row, 'total');
  }
  return totals;
}

/** The distinct terms, quoted as the type's own notation wants it. */
function vectorOf(streams: readonly string[]): string {
  const distinct = new Set(streams.flatMap((stream) => stream.split(' ')));
  distinct.delete('');
  return [...distinct].map((term) => tsquery({ kind: 'term', term })).join(' ');
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
