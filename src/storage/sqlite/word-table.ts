import assert from 'node:assert/strict';
import type { DocumentTerms } from '../../words/ranking/bm25.ts';
import { type CandidatePlan, createCountCache, isAlternatives, roughWords } from '../../words/ranking/candidates.ts';
import { countedMax } from '../../words/ranking/word-index.ts';
import { spellingsIn } from '../../words/vocabulary.ts';
import { anyOf, type WordQuery } from '../../words/word-query.ts';
import type { KeyFilter, WordIndex, WordTable } from '../dialect.ts';
import { type Condition, numberOf } from '../rows.ts';
import { createVocabularyCache } from '../vocabulary-cache.ts';
import { sumColumns } from '../word-sums.ts';
import type { Database } from './database.ts';
import type { KeyList, KeyLists } from './key-lists.ts';
import { cutHere, type WriteHelper } from './write-helper/write-helper.ts';

/** Words in FTS5. Without a helper all texts are tokenised on this thread. */
export function createWordTable(database: Database, keyLists: KeyLists, helper: WriteHelper | undefined): WordTable {
  return {
    key: 'w.rowid',
    tables: ['terms'],
    counts: createCountCache(),
    vocabulary: createVocabularyCache(async (_, { name }, after) =>
      database.get(
        `SELECT group_concat(term, ' ') AS terms, max(place) AS last FROM ${name}_vocabulary WHERE place > ?`,
        after,
      ),
    ),
    cut(texts) {
      const terms = helper?.cut(texts) ?? cutHere(texts);
      return async (_, index, keys) => writeTerms(database, index, keys, terms);
    },
    listing: undefined,
    sums: async (_, { name }) => database.get(`SELECT ${sumColumns} FROM ${name}_statistics`) ?? {},
    /** FTS5 goes through the keys upwards: how far the first ones reach tells how many there are in all. */
    async count(_, { name, owner }, leaves) {
      const counted = `SELECT count(*) AS total, max(key) AS last, (SELECT max(key) FROM ${owner}) AS newest FROM (
        SELECT rowid AS key FROM ${name}_words WHERE ${name}_words MATCH ? LIMIT ${countedMax})`;
      return leaves.map((leaf) => {
        const row = database.get(counted, renderMatch(leaf) ?? '') ?? {};
        const total = numberOf(row, 'total');
        const all = (total * numberOf(row, 'newest')) / numberOf(row, 'last');
        return { documents: total < countedMax ? total : Math.round(all) };
      });
    },
    narrow: createRowFilter(keyLists),
    matches: ({ name }, query, narrowed, plan) => ({
      sql: `FROM ${name}_words w WHERE ${name}_words MATCH ? ${narrowed?.sql ?? ''}`,
      values: [planned(query, plan), ...(narrowed?.values ?? [])],
    }),
    order: ({ name }) => ({ sql: `bm25(${name}_words, 1, 0.8, 2, 1, 1.5, 1)`, values: [] }),
  };
}

function writeTerms(
  database: Database,
  { name }: WordIndex,
  keys: readonly number[],
  terms: Iterable<DocumentTerms>,
): void {
  // Made once: a newly concatenated string is hashed again, for each document.
  const insertTerms = `INSERT INTO ${name}_terms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  const insertWords = `INSERT INTO ${name}_words (rowid, title, title_extra, heading, heading_extra, body, body_extra)
    VALUES (?, ?, ?, ?, ?, ?, ?)`;
  const sums = { title: 0, heading: 0, body: 0 };
  const spellings = new Set<string>();
  let written = 0;
  for (const { title, heading, body } of terms) {
    const key = keys[written];
    assert(key !== undefined, 'more terms than keys');
    const streams = [title.main, title.extra, heading.main, heading.extra, body.main, body.extra];
    database.run(insertTerms, key, ...streams, title.length, heading.length, body.length);
    database.run(insertWords, key, ...streams);
    for (const each of spellingsIn(streams)) spellings.add(each);
    written += 1;
    sums.title += title.length;
    sums.heading += heading.length;
    sums.body += body.length;
  }
  assert(written === keys.length, 'fewer terms than keys');
  database.run(
    `INSERT OR IGNORE INTO ${name}_vocabulary (term) SELECT value FROM json_each(?)`,
    JSON.stringify([...spellings]),
  );
  database.run(
    `UPDATE ${name}_statistics SET documents = documents + ?, title_length = title_length + ?,
       heading_length = heading_length + ?, body_length = body_length + ? WHERE rowid = 1`,
    ...[written, sums.title, sums.heading, sums.body],
  );
}

/** Candidates must have an essential word; FTS5 looks at the next rarest ones too, for its rough order. */
function planned(query: WordQuery, plan: CandidatePlan | undefined): string {
  const match = renderMatch(query) ?? '';
  if (plan === undefined || plan.optional.length === 0) return match;
  const must = renderMatch(anyOf(plan.essential)) ?? '';
  if (!isAlternatives(query)) return `(${match}) AND (${must})`;
  const rough = renderMatch(anyOf(roughWords(plan)));
  return rough === undefined ? must : `(${must}) OR ((${must}) AND (${rough}))`;
}

/**
 * A filter as a condition on the rows `w` of a word index: a byte for each key between the first and the last. A list in SQL is
 * a tree that is built anew for each statement and searched for each row: with 50,000 keys that takes longer than the search
 * itself.
 */
function createRowFilter(keyLists: KeyLists): (filter: KeyFilter) => Condition {
  return ({ isWide, onKeys, ...select }) => {
    // Without a look at the rows of the documents themselves, which takes longer than all the rest.
    if (isWide && onKeys) {
      return { sql: `AND EXISTS (SELECT 1 FROM (SELECT w.rowid AS key) o WHERE ${onKeys.sql})`, values: onKeys.values };
    }
    if (isWide) return { ...select, sql: `AND EXISTS (SELECT 1 FROM (${select.sql}) f WHERE f.key = w.rowid)` };
    // FTS5 is what the filter is tested against, not the other way round: it would be asked for each key anew, hence the plus.
    return byteCondition(keyLists(select)) ?? { ...select, sql: `AND +w.rowid IN (${select.sql})` };
  };
}

function byteCondition(keys: KeyList): Condition | undefined {
  const [first, last] = [keys[0], keys[keys.length - 1]];
  if (first === undefined || last === undefined) return { sql: 'AND 0', values: [] };
  if (last - first >= spanMax) return undefined;
  const bytes = new Uint8Array(last - first + 1);
  for (let at = 0; at < keys.length; at += 1) bytes[(keys[at] ?? first) - first] = 1;
  return {
    sql: "AND w.rowid BETWEEN ? AND ? AND substr(?, w.rowid - ?, 1) = x'01'",
    values: [first, last, bytes, first - 1],
  };
}

/** Bytes that are copied for each statement. */
const spanMax = 4 * 1024 * 1024;

/**
 * Renders a query in FTS5's own language. Every term is quoted, and terms hold letters, digits and three signs only, so
 * nothing that a caller wrote is read as an operator. Undefined when the query can find nothing.
 */
function renderMatch(query: WordQuery): string | undefined {
  return query.kind === 'nothing' ? undefined : render(query);
}

function render(query: Exclude<WordQuery, { kind: 'nothing' }>): string {
  switch (query.kind) {
    case 'term':
      return quoted(query.term);
    case 'prefix':
      return `${quoted(query.prefix)} *`;
    case 'near':
      return query.terms.map(({ term }) => quoted(term)).join(' OR ');
    case 'phrase':
      // Side by side in the text, not in the list of further names.
      return `{title heading body} : ${quoted(query.terms.join(' '))}${query.open ? ' *' : ''}`;
    case 'except':
      return `(${renderPart(query.keep)}) NOT (${renderPart(query.drop)})`;
    case 'and':
      return query.parts.map((part) => `(${renderPart(part)})`).join(' AND ');
    case 'or':
      return query.parts.map((part) => `(${renderPart(part)})`).join(' OR ');
  }
}

function renderPart(query: WordQuery): string {
  // Cannot occur inside: the constructors of queries take it out.
  return query.kind === 'nothing' ? '""' : render(query);
}

function quoted(terms: string): string {
  return `"${terms.replaceAll('"', '""')}"`;
}
