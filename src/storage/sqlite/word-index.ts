import type { SQLInputValue } from 'node:sqlite';
import { countedLeaves, createScorer, type DocumentTerms, type IndexStatistics } from '../../words/bm25.ts';
import { termText } from '../../words/term-text.ts';
import { leafKey, leavesOf, type WordLeaf, type WordQuery } from '../../words/word-query.ts';
import { type Candidate, rankPool } from '../rank-pool.ts';
import type { FoundPage, IndexedTexts, Page } from '../word-index.ts';
import { type Database, numberOf, type Row, textOf } from './database.ts';
import { renderMatch } from './render-match.ts';

/** Full text of one kind of document. FTS5 finds candidates; our own BM25 puts them in order. */
export interface WordIndex {
  write(key: number, texts: IndexedTexts): void;
  find(query: WordQuery, filter: KeyFilter, page: Page): FoundPage;
}

/** A subselect of the keys that may be found; without `sql`, all of them. */
export interface KeyFilter {
  readonly sql: string | undefined;
  readonly values: readonly SQLInputValue[];
}

export interface WordIndexConfig {
  /** The prefix of the index's tables. */
  readonly name: string;
  /** The table that its keys are of, which has an `id` that breaks ties. */
  readonly owner: string;
  /** How many of FTS5's best are scored again. What comes behind them keeps FTS5's order. */
  readonly poolMax: number;
}

export function createWordIndex(database: Database, config: WordIndexConfig): WordIndex {
  const { name, poolMax } = config;
  const sql = statements(config);
  return {
    write(key, texts) {
      const title = termText(texts.title);
      const heading = termText(texts.heading);
      const body = termText(texts.body);
      database.run(
        sql.write,
        key,
        ...[title.main, title.extra, heading.main, heading.extra, body.main, body.extra],
        ...[title.length, heading.length, body.length],
      );
    },
    find(query, filter, page) {
      const match = renderMatch(query);
      if (match === undefined) return { found: [], total: 0 };
      const inFilter = filter.sql === undefined ? '' : `AND w.rowid IN (${filter.sql})`;
      const select = (limit: number, offset: number) =>
        database.all(sql.candidates(inFilter), match, ...filter.values, limit, offset);
      const pool = select(poolMax, 0);
      const total =
        pool.length < poolMax
          ? pool.length
          : numberOf(database.get(sql.count(inFilter), match, ...filter.values) ?? {}, 'total');
      const leaves = leavesOf(query);
      const score = createScorer(leaves, documentsWith(leaves), statistics());
      const found = rankPool(candidates(pool), score).slice(page.offset, page.offset + page.limit);
      const missing = Math.min(page.limit, total - page.offset) - found.length;
      if (missing > 0) {
        for (const row of select(missing, Math.max(poolMax, page.offset))) {
          found.push({ key: numberOf(row, 'key'), score: 0 });
        }
      }
      return { found, total };
    },
  };

  function candidates(rows: readonly Row[]): Candidate[] {
    const ids = new Map(rows.map((row) => [numberOf(row, 'key'), textOf(row, 'id')]));
    return database.all(sql.terms, JSON.stringify([...ids.keys()])).map((row) => {
      const key = numberOf(row, 'key');
      return { key, id: ids.get(key) ?? '', terms: documentTerms(row) };
    });
  }

  function documentsWith(leaves: readonly WordLeaf[]): Map<string, number> {
    const counts = new Map<string, number>();
    for (const leaf of countedLeaves(leaves)) {
      const row = database.get(sql.count(''), renderMatch(leaf) ?? '');
      counts.set(leafKey(leaf), row === undefined ? 0 : numberOf(row, 'total'));
    }
    return counts;
  }

  function statistics(): IndexStatistics {
    const row = database.get(`SELECT * FROM ${name}_statistics`) ?? {};
    const documents = numberOf(row, 'documents');
    const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
    return {
      documents,
      averageLengths: { title: mean('title_length'), heading: mean('heading_length'), body: mean('body_length') },
    };
  }
}

function statements({ name, owner }: WordIndexConfig) {
  // Weights of the columns in the order of the schema. Only a rough order is needed: the pool is scored again.
  const rank = `bm25(${name}_words, 2, 1, 1.5, 1, 1, 0.8)`;
  return {
    write: `INSERT INTO ${name}_terms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    terms: `SELECT * FROM ${name}_terms WHERE key IN (SELECT value FROM json_each(?))`,
    count: (filter: string) => `SELECT count(*) AS total FROM ${name}_words w WHERE ${name}_words MATCH ? ${filter}`,
    candidates: (filter: string) => `
      SELECT w.rowid AS key, o.id AS id FROM ${name}_words w JOIN ${owner} o ON o.key = w.rowid
      WHERE ${name}_words MATCH ? ${filter} ORDER BY ${rank}, w.rowid LIMIT ? OFFSET ?`,
  };
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
