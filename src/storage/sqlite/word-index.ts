import type { SQLInputValue } from 'node:sqlite';
import {
  countedLeaves,
  createScorer,
  type DocumentTerms,
  highestScore,
  type IndexStatistics,
  leafWeight,
  weighTerms,
} from '../../words/bm25.ts';
import { documentTermsOf } from '../../words/document-terms.ts';
import { anyOf, leafKey, leavesOf, membersOf, type WordLeaf, type WordQuery } from '../../words/word-query.ts';
import {
  type CandidatePlan,
  createCountCache,
  essentialDocuments,
  isAlternatives,
  isSettled,
  planCandidates,
  roughWords,
} from '../candidates.ts';
import { type Candidate, type Ranked, rankPool, weighPool } from '../rank-pool.ts';
import {
  countedMax,
  type FoundPage,
  type IndexedTexts,
  type Page,
  type WeighedWords,
  type WeighRequest,
  type WordIndexConfig,
  weighedMax,
} from '../word-index.ts';
import { type Database, numberOf, type Row, textOf } from './database.ts';
import { renderMatch } from './render-match.ts';

/** Full text of one kind of document. FTS5 finds candidates; our own BM25 puts them in order. */
export interface WordIndex {
  write(key: number, texts: IndexedTexts): void;
  find(query: WordQuery, filter: KeyFilter, page: Page): FoundPage;
  weigh(request: WeighRequest): WeighedWords;
}

/** A subselect of the keys that may be found; without `sql`, all of them. */
export interface KeyFilter {
  readonly sql: string | undefined;
  readonly values: readonly SQLInputValue[];
}

interface Pool {
  pool: Ranked[];
  complete: boolean;
  scoreMax: number;
}

export function createWordIndex(database: Database, config: WordIndexConfig): WordIndex {
  const { name, owner, poolMax, totalMax } = config;
  const words = `${name}_words`;
  const cache = createCountCache();
  return {
    write(key, texts) {
      const { title, heading, body } = documentTermsOf(texts);
      database.run(
        `INSERT INTO ${name}_terms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        key,
        ...[title.main, title.extra, heading.main, heading.extra, body.main, body.extra],
        ...[title.length, heading.length, body.length],
      );
    },
    find(query, filter, { limit, offset }) {
      const match = renderMatch(query);
      if (match === undefined) return { found: [], total: 0, scoreMax: 0 };
      const { pool, complete, scoreMax } = findPool(query, match, filter);
      const total = complete && pool.length < poolMax ? pool.length : countMatches(match, filter);
      const found = pool.slice(offset, offset + limit);
      const missing = Math.min(limit, total - offset) - found.length;
      if (missing > 0) found.push(...behind(pool, match, filter, missing, Math.max(0, offset - pool.length)));
      return { found, total, scoreMax };
    },
    weigh({ query, keys }) {
      const leaves = leavesOf(query);
      const statistics = readStatistics();
      const counts = countDocuments(leaves, statistics);
      const rows = database.all(
        `SELECT * FROM ${name}_terms WHERE key IN (SELECT value FROM json_each(?))`,
        JSON.stringify(keys.slice(0, weighedMax)),
      );
      const documents = rows.map((row) => ({ key: numberOf(row, 'key'), terms: documentTerms(row) }));
      return {
        weighed: weighPool(documents, weighTerms(leaves, counts, statistics)),
        scoreMax: highestScore(leaves, counts, statistics),
      };
    },
  };

  function findPool(query: WordQuery, match: string, filter: KeyFilter): Pool {
    const leaves = leavesOf(query);
    const statistics = readStatistics();
    const counts = countDocuments(leaves, statistics);
    const weightOf = (leaf: WordLeaf) => leafWeight(leaf, counts, statistics.documents);
    const rarest = (leaf: WordLeaf) => Math.min(...membersOf(leaf).map((member) => counts.get(leafKey(member)) ?? 0));
    const score = createScorer(leaves, counts, statistics);
    const scoreMax = highestScore(leaves, counts, statistics);
    for (let attempt = 0; ; attempt += 1) {
      const documentsMin = essentialDocuments[attempt] ?? Number.POSITIVE_INFINITY;
      const plan = planCandidates(leaves, rarest, documentsMin);
      const pool = rankPool(candidates(planned(query, match, plan), filter), score);
      const scores = pool.map((ranked) => ranked.score);
      if (isSettled(attempt, query, plan, scores, poolMax, weightOf)) {
        return { pool, complete: plan.optional.length === 0, scoreMax };
      }
    }
  }

  function candidates(match: string, filter: KeyFilter): Candidate[] {
    // The rows' texts and ids are fetched for the chosen ones only. FTS5 is what the filter is tested against, not the
    // other way round: it would be asked for each key of the filter anew, hence the plus sign.
    return database
      .all(
        `SELECT t.*, o.id FROM (
           SELECT w.rowid AS key FROM ${words} w WHERE ${words} MATCH ? ${condition(filter)}
           ORDER BY bm25(${words}, 2, 1, 1.5, 1, 1, 0.8), w.rowid LIMIT ${poolMax}
         ) c JOIN ${name}_terms t ON t.key = c.key JOIN ${owner} o ON o.key = c.key`,
        ...[match, ...filter.values],
      )
      .map((row) => ({ key: numberOf(row, 'key'), id: textOf(row, 'id'), terms: documentTerms(row) }));
  }

  function behind(pool: readonly Ranked[], match: string, filter: KeyFilter, limit: number, offset: number): Ranked[] {
    const keys = JSON.stringify(pool.map(({ key }) => key));
    return database
      .all(
        `SELECT w.rowid AS key FROM ${words} w WHERE ${words} MATCH ? ${condition(filter)}
         AND +w.rowid NOT IN (SELECT value FROM json_each(?)) ORDER BY w.rowid DESC LIMIT ? OFFSET ?`,
        ...[match, ...filter.values, keys, limit, offset],
      )
      .map((row) => ({ key: numberOf(row, 'key'), score: 0 }));
  }

  function countMatches(match: string, filter: KeyFilter): number {
    const row = database.get(
      `SELECT count(*) AS total FROM (
         SELECT 1 FROM ${words} w WHERE ${words} MATCH ? ${condition(filter)} LIMIT ${totalMax})`,
      ...[match, ...filter.values],
    );
    return row === undefined ? 0 : numberOf(row, 'total');
  }

  function countDocuments(leaves: readonly WordLeaf[], statistics: IndexStatistics): Map<string, number> {
    const counts = cache.for(statistics);
    for (const leaf of countedLeaves(leaves)) {
      const key = leafKey(leaf);
      if (!counts.has(key)) counts.set(key, countLeaf(leaf));
    }
    return counts;
  }

  /** FTS5 goes through the keys upwards: how far the first ones reach tells how many there are in all. */
  function countLeaf(leaf: WordLeaf): number {
    const row =
      database.get(
        `SELECT count(*) AS total, max(key) AS last, (SELECT max(key) FROM ${owner}) AS newest FROM (
           SELECT rowid AS key FROM ${words} WHERE ${words} MATCH ? LIMIT ${countedMax})`,
        renderMatch(leaf) ?? '',
      ) ?? {};
    const total = numberOf(row, 'total');
    return total < countedMax ? total : Math.round((total * numberOf(row, 'newest')) / numberOf(row, 'last'));
  }

  function readStatistics(): IndexStatistics {
    const row = database.get(`SELECT * FROM ${name}_statistics`) ?? {};
    const documents = numberOf(row, 'documents');
    const mean = (column: string) => numberOf(row, column) / Math.max(1, documents);
    return {
      documents,
      averageLengths: { title: mean('title_length'), heading: mean('heading_length'), body: mean('body_length') },
    };
  }
}

/** Candidates must have an essential word; FTS5 looks at the next rarest ones too, for its rough order. */
function planned(query: WordQuery, match: string, plan: CandidatePlan): string {
  if (plan.optional.length === 0) return match;
  const must = renderMatch(anyOf(plan.essential)) ?? '';
  if (!isAlternatives(query)) return `(${match}) AND (${must})`;
  const rough = renderMatch(anyOf(roughWords(plan)));
  return rough === undefined ? must : `(${must}) OR ((${must}) AND (${rough}))`;
}

function condition(filter: KeyFilter): string {
  return filter.sql === undefined ? '' : `AND +w.rowid IN (${filter.sql})`;
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
