import assert from 'node:assert/strict';
import { documentTermsOf } from '../../words/document-terms.ts';
import {
  type CandidatePlan,
  createCountCache,
  isAlternatives,
  roughlyRankedWords,
} from '../../words/ranking/candidates.ts';
import { countedMax, type IndexedTexts } from '../../words/ranking/word-index.ts';
import { spellingsIn } from '../../words/vocabulary.ts';
import { anyOf, type WordQuery } from '../../words/word-query.ts';
import type { KeyFilter, WordIndex, WordTable } from '../dialect.ts';
import { numberOf, type SqlFragment } from '../rows.ts';
import { indexedColumns } from '../schema/sqlite-schema.ts';
import { storable } from '../storable.ts';
import { createVocabularyCache } from '../words/count-words.ts';
import type { Database } from './database.ts';

/** Weights of `indexedColumns`, in order. */
const columnWeights = '1, 0.8, 2, 1, 1.5, 1, 0';

/** Creates the full-text search that uses FTS5. */
export function createWordTable(database: Database): WordTable {
  return {
    key: 'w.rowid',
    tables: ['terms'],
    counts: createCountCache(),
    vocabulary: createVocabularyCache(),
    tokenize:
      (texts) =>
      async (db, index, keys, otherWrites = []) => {
        writeTerms(database, index, keys, texts);
        for (const { sql, values } of otherWrites) await db.query(sql, values);
      },
    /** Counts up to `countedMax` matches, and estimates the rest from the last counted key: FTS5 lists matches in key order. */
    async count(_, { name, owner }, leaves) {
      const counted = `SELECT count(*) AS total, max(key) AS last, (SELECT max(key) FROM ${owner}) AS newest FROM (
        SELECT rowid AS key FROM ${name}_words WHERE ${name}_words MATCH ? LIMIT ${countedMax})`;
      return leaves.map((leaf) => {
        const row = database.get(counted, render(leaf)) ?? {};
        const total = numberOf(row, 'total');
        const all = (total * numberOf(row, 'newest')) / numberOf(row, 'last');
        return total < countedMax ? total : Math.round(all);
      });
    },
    matches: (index, query, filter) => matching(index, render(query), filter),
    labelFilter({ name }, labels) {
      if (labels.length === 0) return undefined;
      const sql = `SELECT rowid AS key FROM ${name}_words WHERE ${name}_words MATCH ?`;
      return { sql, values: [matchLabels(labels)], labels };
    },
    async relabelPassages(_, parent, labels) {
      const ofDocument = 'key IN (SELECT key FROM kb_passages WHERE parent = ?)';
      const terms = `${indexedColumns} FROM kb_passage_terms WHERE ${ofDocument}`;
      database.run(
        `INSERT INTO kb_passage_words (kb_passage_words, rowid, ${indexedColumns}) SELECT 'delete', key, ${terms}`,
        parent,
      );
      database.run(`UPDATE kb_passage_terms SET labels = ? WHERE ${ofDocument}`, labelTokens(labels).join(' '), parent);
      database.run(`INSERT INTO kb_passage_words (rowid, ${indexedColumns}) SELECT key, ${terms}`, parent);
    },
    async candidates(db, index, { query, filter, plan, limit }) {
      const { sql, values } = matching(index, candidateQuery(query, plan), filter);
      const order = `bm25(${index.name}_words, ${columnWeights})`;
      const rows = await db.query(`SELECT w.rowid AS key ${sql} ORDER BY ${order}, w.rowid LIMIT ${limit}`, values);
      return { keys: rows.map((row) => numberOf(row, 'key')) };
    },
  };

  function matching({ name }: WordIndex, match: string, filter: KeyFilter | undefined): SqlFragment {
    const condition = filter && filterCondition(name, filter);
    return {
      sql: `FROM ${name}_words w WHERE ${name}_words MATCH ? ${condition?.sql ?? ''}`,
      values: [match, ...(condition?.values ?? [])],
    };
  }
}

function writeTerms(
  database: Database,
  { name }: WordIndex,
  keys: readonly number[],
  texts: readonly IndexedTexts[],
): void {
  const insertTerms = `INSERT INTO ${name}_terms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const insertWords = `INSERT INTO ${name}_words (rowid, title, title_extra, heading, heading_extra, body, body_extra, labels)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
  const sums = { title: 0, heading: 0, body: 0 };
  const spellings = new Set<string>();
  for (const [at, text] of texts.entries()) {
    const key = keys[at];
    assert(key !== undefined, 'a text without a key');
    const { title, heading, body } = documentTermsOf(text);
    const streams = [title.main, title.extra, heading.main, heading.extra, body.main, body.extra];
    const labels = labelTokens(text.labels ?? []).join(' ');
    database.run(insertTerms, key, ...streams, title.length, heading.length, body.length, labels);
    database.run(insertWords, key, ...streams, labels);
    for (const each of spellingsIn(streams)) spellings.add(each);
    sums.title += title.length;
    sums.heading += heading.length;
    sums.body += body.length;
  }
  database.run(
    `INSERT INTO word_vocabulary (word_index, term) SELECT '${name}', s.value FROM json_each(?) s
     WHERE NOT EXISTS (SELECT 1 FROM word_vocabulary v WHERE v.term = s.value AND v.word_index = '${name}')`,
    JSON.stringify([...spellings]),
  );
  database.run(
    `UPDATE word_statistics SET documents = documents + ?, title_length = title_length + ?,
       heading_length = heading_length + ?, body_length = body_length + ? WHERE word_index = ?`,
    ...[texts.length, sums.title, sums.heading, sums.body, name],
  );
}

/** Returns the FTS5 query for candidates. They contain an essential word; other rare words only affect the order. */
function candidateQuery(query: WordQuery, plan: CandidatePlan): string {
  const match = render(query);
  if (plan.optional.length === 0) return match;
  const must = render(anyOf(plan.essential));
  if (!isAlternatives(query)) return `(${match}) AND (${must})`;
  const optional = roughlyRankedWords(plan);
  return optional.length === 0 ? must : `(${must}) OR ((${must}) AND (${render(anyOf(optional))}))`;
}

/** Returns a filter as a condition on the rows `w` of a word index. */
function filterCondition(name: string, { labels, sql, values }: KeyFilter): SqlFragment {
  // FTS5 combines the two MATCH conditions into one query.
  if (labels !== undefined) return { sql: `AND ${name}_words MATCH ?`, values: [matchLabels(labels)] };
  // Tests each match. Listing all documents that pass would take longer, unless they are few.
  return { sql: `AND EXISTS (SELECT 1 FROM (${sql}) f WHERE f.key = w.rowid)`, values };
}

/** Returns a query in FTS5's language. Every term is quoted, so that a caller's text is never read as an operator. */
function render(query: WordQuery): string {
  switch (query.kind) {
    case 'nothing':
      return '""';
    case 'term':
      return quoted(query.term);
    case 'prefix':
      return `${quoted(query.prefix)} *`;
    case 'fuzzy':
      return query.terms.map(({ term }) => quoted(term)).join(' OR ');
    case 'phrase':
      // Phrases must be adjacent in the main terms; the extra terms have no meaningful order.
      return `{title heading body} : ${quoted(query.terms.join(' '))}${query.lastIsPrefix ? ' *' : ''}`;
    case 'except':
      return `(${render(query.keep)}) NOT (${render(query.drop)})`;
    default:
      return query.parts.map((part) => `(${render(part)})`).join(query.kind === 'and' ? ' AND ' : ' OR ');
  }
}

function quoted(terms: string): string {
  return `"${terms.replaceAll('"', '""')}"`;
}

/** Returns an FTS5 query for documents with at least one label of each group. */
function matchLabels(groups: readonly (readonly string[])[]): string {
  // `#` alone is not a token, so an empty group matches nothing.
  return groups.map((group) => `labels : (${labelTokens(group).map(quoted).join(' OR ') || '"#"'})`).join(' AND ');
}

/** Encodes labels as tokens; see sqlite-schema.ts. */
function labelTokens(labels: readonly string[]): string[] {
  return labels.map((label) => `#${Buffer.from(storable(label)).toString('hex').toUpperCase()}`);
}
