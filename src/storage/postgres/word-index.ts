import { countedLeaves, createScorer, type DocumentTerms, type IndexStatistics, leafWeight } from '../../words/bm25.ts';
import { termText } from '../../words/term-text.ts';
import { leafKey, leavesOf, type WordQuery } from '../../words/word-query.ts';
import { rankPool } from '../rank-pool.ts';
import type { FoundPage, IndexedTexts, Page } from '../word-index.ts';
import { numberOf, type Row, type Statements, textOf } from './connections.ts';
import { renderWords, tsquery } from './render-words.ts';

/** Full text of one kind of document. The tsvector finds candidates; our own BM25 puts them in order. */
export interface WordIndex {
  write(statements: Statements, key: number, texts: IndexedTexts): Promise<void>;
  find(statements: Statements, query: WordQuery, filter: OwnerFilter, page: Page): Promise<FoundPage>;
}

/** A condition on the owner `o`, whose values are numbered from `$1`. */
export interface OwnerFilter {
  readonly sql: string;
  readonly values: readonly unknown[];
}

export interface WordIndexConfig {
  readonly name: string;
  readonly owner: string;
  /** How many candidates are scored exactly. What comes behind them keeps the order of the rough score. */
  readonly poolMax: number;
}

export function createWordIndex({ name, owner, poolMax }: WordIndexConfig): WordIndex {
  const terms = `carrel.${name}_terms`;
  const columns = ['title', 'title_extra', 'heading', 'heading_extra', 'body', 'body_extra'];
  return {
    async write(statements, key, texts) {
      const title = termText(texts.title);
      const heading = termText(texts.heading);
      const body = termText(texts.body);
      const streams = [title.main, title.extra, heading.main, heading.extra, body.main, body.extra];
      const words = [...new Set(streams.flatMap((stream) => stream.split(' ')))].filter((word) => word !== '');
      await statements.query(
        `INSERT INTO ${terms} (key, ${columns.join(', ')}, title_length, heading_length, body_length, words)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, array_to_tsvector($11::text[]))`,
        [key, ...streams, title.length, heading.length, body.length, words],
      );
    },
    async find(statements, query, filter, { limit, offset }) {
      const words = renderWords(query, filter.values.length + 1);
      if (words === undefined) return { found: [], total: 0 };
      const from = `FROM ${terms} t JOIN carrel.${owner} o ON o.key = t.key WHERE ${words.sql} AND ${filter.sql}`;
      const values = [...filter.values, ...words.values];
      const leaves = leavesOf(query);
      const counts = await documentsWith(statements, query);
      const statistics = await readStatistics(statements);
      const weights = leaves.map((leaf) => leafWeight(leaf, counts, statistics.documents));
      const next = values.length + 1;
      const rough = leaves
        .map(
          (_, index) =>
            `(CASE WHEN t.words @@ ($${next}::tsquery[])[${index + 1}] THEN ($${next + 1}::float8[])[${index + 1}] ELSE 0 END)`,
        )
        .join(' + ');
      const select = (list: string, count: number, skip: number) =>
        statements.query(
          `SELECT ${list} ${from} ORDER BY ${rough} DESC, t.key LIMIT $${next + 2} OFFSET $${next + 3}`,
          [...values, leaves.map(tsquery), weights, count, skip],
        );
      const pool = await select('t.*, o.id', poolMax, 0);
      const total = pool.length < poolMax ? pool.length : await count(statements, from, values);
      const candidates = pool.map((row) => ({
        key: numberOf(row, 'key'),
        id: textOf(row, 'id'),
        terms: documentTerms(row),
      }));
      const found = rankPool(candidates, createScorer(leaves, counts, statistics)).slice(offset, offset + limit);
      const missing = Math.min(limit, total - offset) - found.length;
      if (missing > 0) {
        const rest = await select('t.key', missing, Math.max(poolMax, offset));
        found.push(...rest.map((row) => ({ key: numberOf(row, 'key'), score: 0 })));
      }
      return { found, total };
    },
  };

  async function documentsWith(statements: Statements, query: WordQuery): Promise<Map<string, number>> {
    const leaves = countedLeaves(leavesOf(query));
    const rows = await statements.query(
      `SELECT q.place, (SELECT count(*) FROM ${terms} t WHERE t.words @@ q.words) AS total
       FROM unnest($1::tsquery[]) WITH ORDINALITY AS q (words, place)`,
      [leaves.map(tsquery)],
    );
    return new Map(
      rows.flatMap((row) => {
        const leaf = leaves[numberOf(row, 'place') - 1];
        return leaf === undefined ? [] : [[leafKey(leaf), numberOf(row, 'total')]];
      }),
    );
  }

  async function readStatistics(statements: Statements): Promise<IndexStatistics> {
    const [row = {}] = await statements.query(
      `SELECT count(*) AS documents, coalesce(sum(title_length), 0) AS title,
         coalesce(sum(heading_length), 0) AS heading, coalesce(sum(body_length), 0) AS body FROM ${terms}`,
    );
    const documents = numberOf(row, 'documents');
    const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
    return { documents, averageLengths: { title: mean('title'), heading: mean('heading'), body: mean('body') } };
  }
}

async function count(statements: Statements, from: string, values: readonly unknown[]): Promise<number> {
  const [row = {}] = await statements.query(`SELECT count(*) AS total ${from}`, values);
  return numberOf(row, 'total');
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
