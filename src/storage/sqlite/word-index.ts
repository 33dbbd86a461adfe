import assert from 'node:assert/strict';
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
  roughWords,
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
import { type Database, numberOf, type Row, textOf } from './database.ts';
import { renderMatch } from './render-match.ts';
import { createRowFilter, type KeyFilter, type RowCondition } from './row-filter.ts';
import { cutHere } from './write-helper.ts';

/** Full text of one kind of document. FTS5 finds candidates; our own BM25 puts them in order. */
export interface WordIndex {
  /** Documents that are not in the index. Many at once cost less than each by itself. */
  write(documents: readonly IndexedDocument[]): void;
  /** The same for documents that are cut already. In the order of the keys, which must go upwards. */
  writeTerms(keys: readonly number[], terms: Iterable<DocumentTerms>): void;
  find(query: WordQuery, filter: KeyFilter, page: Page): FoundPage;
  weigh(request: WeighRequest): WeighedWords;
}

interface Pool {
  pool: Ranked[];
  /** Of all matches, where it is known already. */
  total: number | undefined;
  scoreMax: number;
}

/** Matches whose keys are read where that tells how many there are: cheaper than to have them all found again. */
const roughMax = 2000;

export function createWordIndex(database: Database, config: WordIndexConfig): WordIndex {
  const { name, owner, poolMax, totalMax } = config;
  const words = `${name}_words`;
  const cache = createCountCache();
  const rowFilter = createRowFilter(database);
  // Made once: a text that is put together anew is hashed anew, for each document.
  const insertTerms = `INSERT INTO ${name}_terms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const insertWords = `INSERT INTO ${words} (rowid, ${streamColumns}) VALUES (?, ?, ?, ?, ?, ?, ?)`;
  return {
    write: (documents) =>
      writeTerms(
        documents.map(({ key }) => key),
        cutHere(documents),
      ),
    writeTerms,
    find(query, filter, { limit, offset }) {
      const match = renderMatch(query);
      if (match === undefined) return { found: [], total: 0, scoreMax: 0 };
      const condition = rowFilter(filter);
      const { pool, scoreMax, ...known } = findPool(query, match, condition);
      const total = known.total ?? countMatches(match, condition);
      const found = pool.slice(offset, offset + limit);
      const missing = Math.min(limit, total - offset) - found.length;
      if (missing > 0) found.push(...behind(pool, match, condition, missing, Math.max(0, offset - pool.length)));
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

  function writeTerms(keys: readonly number[], terms: Iterable<DocumentTerms>): void {
    const sums = { title: 0, heading: 0, body: 0 };
    let written = 0;
    for (const { title, heading, body } of terms) {
      const key = keys[written];
      assert(key !== undefined, 'more terms than keys');
      const streams = [title.main, title.extra, heading.main, heading.extra, body.main, body.extra];
      const lengths = [title.length, heading.length, body.length];
      database.run(insertTerms, key, ...streams, ...lengths);
      database.run(insertWords, key, ...streams);
      written += 1;
      sums.title += title.length;
      sums.heading += heading.length;
      sums.body += body.length;
    }
    assert(written === keys.length, 'fewer terms than keys');
    database.run(
      `UPDATE ${name}_statistics SET documents = documents + ?, title_length = title_length + ?,
         heading_length = heading_length + ?, body_length = body_length + ? WHERE rowid = 1`,
      ...[written, sums.title, sums.heading, sums.body],
    );
  }

  function findPool(query: WordQuery, match: string, condition: RowCondition): Pool {
    const leaves = leavesOf(query);
    const statistics = readStatistics();
    const counts = countDocuments(leaves, statistics);
    const weightOf = (leaf: WordLeaf) => leafWeight(leaf, counts, statistics.documents);
    const rarest = (leaf: WordLeaf) => Math.min(...membersOf(leaf).map((member) => counts.get(leafKey(member)) ?? 0));
    const score = createScorer(leaves, counts, statistics);
    const scoreMax = highestScore(leaves, counts, statistics);
    let found: Pool = { pool: [], total: undefined, scoreMax };
    for (const documentsMin of essentialDocuments(query, leaves)) {
      const plan = planCandidates(leaves, rarest, documentsMin);
      const isComplete = plan.optional.length === 0;
      const keysMax = isComplete ? Math.max(poolMax, roughMax) : poolMax;
      const keys = roughOrder(planned(query, match, plan), condition, keysMax);
      const pool = rankPool(candidates(keys.slice(0, poolMax)), score);
      found = { pool, total: isComplete && keys.length < keysMax ? keys.length : undefined, scoreMax };
      const scores = pool.map((ranked) => ranked.score);
      if (isSettled(documentsMin, query, plan, scores, poolMax, weightOf)) break;
    }
    return found;
  }

  function roughOrder(match: string, condition: RowCondition, limit: number): number[] {
    return database
      .all(
        `SELECT w.rowid AS key FROM ${words} w WHERE ${words} MATCH ? ${condition.sql}
         ORDER BY bm25(${words}, 1, 0.8, 2, 1, 1.5, 1), w.rowid LIMIT ${limit}`,
        ...[match, ...condition.values],
      )
      .map((row) => numberOf(row, 'key'));
  }

  function candidates(keys: readonly number[]): Candidate[] {
    return database
      .all(
        `SELECT t.*, o.id FROM json_each(?) c JOIN ${name}_terms t ON t.key = c.value JOIN ${owner} o ON o.key = c.value`,
        JSON.stringify(keys),
      )
      .map((row) => ({ key: numberOf(row, 'key'), id: textOf(row, 'id'), terms: documentTerms(row) }));
  }

  function behind(
    pool: readonly Ranked[],
    match: string,
    condition: RowCondition,
    limit: number,
    offset: number,
  ): Ranked[] {
    const keys = JSON.stringify(pool.map(({ key }) => key));
    return database
      .all(
        `SELECT w.rowid AS key FROM ${words} w WHERE ${words} MATCH ? ${condition.sql}
         AND +w.rowid NOT IN (SELECT value FROM json_each(?)) ORDER BY w.rowid DESC LIMIT ? OFFSET ?`,
        ...[match, ...condition.values, keys, limit, offset],
      )
      .map((row) => ({ key: numberOf(row, 'key'), score: 0 }));
  }

  function countMatches(match: string, condition: RowCondition): number {
    const row = database.get(
      `SELECT count(*) AS total FROM (
         SELECT 1 FROM ${words} w WHERE ${words} MATCH ? ${condition.sql} LIMIT ${totalMax})`,
      ...[match, ...condition.values],
    );
    return row === undefined ? 0 : numberOf(row, 'total');
  }

  function countDocuments(leaves: readonly WordLeaf[], statistics: IndexStatistics): Map<string, number> {
    const counts = cache(name, statistics);
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

const streamColumns = 'title, title_extra, heading, heading_extra, body, body_extra';

/** Candidates must have an essential word; FTS5 looks at the next rarest ones too, for its rough order. */
function planned(query: WordQuery, match: string, plan: CandidatePlan): string {
  if (plan.optional.length === 0) return match;
  const must = renderMatch(anyOf(plan.essential)) ?? '';
  if (!isAlternatives(query)) return `(${match}) AND (${must})`;
  const rough = renderMatch(anyOf(roughWords(plan)));
  return rough === undefined ? must : `(${must}) OR ((${must}) AND (${rough}))`;
}

function documentTerms(row: Row): DocumentTerms {
  const field = (name: string) => ({
    main: textOf(row, name),
    extra: textOf(row, `${name}_extra`),
    length: numberOf(row, `${name}_length`),
  });
  return { title: field('title'), heading: field('heading'), body: field('body') };
}
