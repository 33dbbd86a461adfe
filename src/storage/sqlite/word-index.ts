import type { SQLInputValue } from 'node:sqlite';
import { countedLeaves, createScorer, type DocumentTerms, type IndexStatistics } from '../../words/bm25.ts';
import { termText } from '../../words/term-text.ts';
import { leafKey, leavesOf, type WordQuery } from '../../words/word-query.ts';
import { type Database, numberOf, type Row, textOf } from './database.ts';
import { renderMatch } from './render-match.ts';

/** Full text of one kind of document. FTS5 finds candidates; our own BM25 puts them in order. */
export interface WordIndex {
  write(key: number, texts: IndexedTexts): void;
  find(query: WordQuery, filter: KeyFilter, page: { limit: number; offset: number }): FoundPage;
}

export interface IndexedTexts {
  readonly title: string;
  readonly heading: string;
  readonly body: string;
}

/** A subselect of the keys that may be found; without `sql`, all of them. */
export interface KeyFilter {
  readonly sql: string | undefined;
  readonly values: readonly SQLInputValue[];
}

export interface FoundPage {
  /** In order. */
  readonly found: readonly { readonly key: number; readonly score: number }[];
  readonly total: number;
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
      const ranked = rank(pool.slice(0, poolMax));
      const found = ranked.slice(page.offset, page.offset + page.limit);
      const missing = Math.min(page.limit, total - page.offset) - found.length;
      if (missing > 0) {
        for (const row of select(missing, Math.max(poolMax, page.offset))) {
          found.push({ key: numberOf(row, 'key'), score: 0 });
        }
      }
      return { found, total };

      function rank(rows: readonly Row[]): { key: number; score: number }[] {
        const ids = new Map(rows.map((row) => [numberOf(row, 'key'), textOf(row, 'id')]));
        const score = createScorer(leavesOf(query), documentsWith(query), statistics());
        return database
          .all(sql.terms, JSON.stringify([...ids.keys()]))
          .map((row) => ({ key: numberOf(row, 'key'), score: score(documentTerms(row)) }))
          .sort((a, b) => b.score - a.score || compare(ids.get(a.key), ids.get(b.key)));
      }
    },
  };

  function documentsWith(query: WordQuery): Map<string, number> {
    const counts = new Map<string, number>();
    for (const leaf of countedLeaves(leavesOf(query))) {
      const row = database.get(
        `SELECT count(*) AS total FROM ${name}_words WHERE ${name}_words MATCH ?`,
        renderMatch(leaf) ?? '',
      );
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

/** By code unit, as the databases compare bytes of ASCII; the order of a language would differ between machines. */
function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
