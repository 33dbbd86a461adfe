import { createCountCache } from '../../../words/ranking/candidates.ts';
import { countedMax } from '../../../words/ranking/word-index.ts';
import type { WordLeaf } from '../../../words/word-query.ts';
import type { Statements, WordIndex, WordTable } from '../../dialect.ts';
import { type ListValue, numberOf, type SqlFragment, textsOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { createVocabularyCache } from '../../words/count-words.ts';
import { findCandidates, matching } from './find-candidates.ts';
import type { TermRows } from './term-rows.ts';
import type { Tokenizer } from './tokenizer.ts';
import { labelMark, labelQuery, tsquery } from './tsquery.ts';

/** Creates the full-text search that uses a tsvector of words and labels per document, with a GIN index. */
export function createWordTable(tokenizer: Tokenizer): WordTable {
  return {
    key: 'w.key',
    tables: ['terms', 'words'],
    counts: createCountCache(),
    vocabulary: createVocabularyCache(),
    tokenize(texts) {
      const groups = tokenizer.tokenize(texts);
      return async (db, index, keys, otherWrites = []) => {
        let written = 0;
        for await (const rows of groups) {
          const group = keys.slice(written, written + rows.tsvectors.length);
          await runTogether(db, [...(written === 0 ? otherWrites : []), ...insertWords(index, group, rows)]);
          written += group.length;
        }
      };
    },
    count: countWords,
    matches: matching,
    labelFilter({ name }, groups) {
      if (groups.length === 0) return undefined;
      const labels = groups.map((group) => group.map(storable));
      // An empty group matches nothing, which a tsquery cannot express.
      if (labels.some((group) => group.length === 0))
        return { sql: `SELECT key FROM carrel.${name}_words WHERE FALSE`, values: [] };
      const values = [labelQuery(labels)];
      return { sql: `SELECT key FROM carrel.${name}_words WHERE words @@ (SELECT ?::tsquery)`, values, labels };
    },
    async relabelPassages(db, parent, labels) {
      await db.query(
        `UPDATE carrel.kb_passage_words w SET words = array_to_tsvector(?::text[]) ||
           ts_delete(w.words, ARRAY(SELECT l FROM unnest(tsvector_to_array(w.words)) l WHERE starts_with(l, '${labelMark}')))
         FROM carrel.kb_passages o WHERE o.key = w.key AND o.parent = ?`,
        [{ list: labels.map((label) => `${labelMark}${label}`) }, parent],
      );
    },
    candidates: findCandidates,
  };
}

/**
 * Returns the statements that insert the words of documents. The vocabulary has no unique index, because transactions with the
 * same word would then wait for one another. Duplicates are harmless.
 */
function insertWords(
  { name }: WordIndex,
  keys: readonly number[],
  { streams, lengths, tsvectors, spellings }: TermRows,
): SqlFragment[] {
  const lists = (...all: readonly ListValue['list'][]) => all.map((list) => ({ list }));
  return [
    {
      sql: `INSERT INTO carrel.${name}_terms (key, title, title_extra, heading, heading_extra, body, body_extra,
        title_length, heading_length, body_length) SELECT * FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[],
        ?::text[], ?::text[], ?::text[], ?::integer[], ?::integer[], ?::integer[])`,
      values: lists(keys, ...streams, ...lengths),
    },
    {
      sql: `INSERT INTO carrel.${name}_words (key, words) SELECT w.key, w.words::tsvector
        FROM unnest(?::bigint[], ?::text[]) AS w (key, words)`,
      values: lists(keys, tsvectors),
    },
    {
      sql: `INSERT INTO carrel.word_vocabulary (word_index, term) SELECT '${name}', s.term FROM unnest(?::text[]) AS s (term)
        WHERE NOT EXISTS (SELECT 1 FROM carrel.word_vocabulary v WHERE v.term = s.term AND v.word_index = '${name}')`,
      values: lists(spellings),
    },
  ];
}

/** Runs writes to different tables as one statement, in one round trip. */
async function runTogether(db: Statements, statements: readonly SqlFragment[]): Promise<void> {
  const parts = statements.map(({ sql }, index) => `part_${index} AS (${sql})`);
  const values = statements.flatMap((statement) => statement.values);
  await db.query(`WITH ${parts.join(', ')} SELECT`, values);
}

/** Below this number of documents, every word is counted, so that both databases rank alike. */
const countedDocuments = 10_000;

/** Counts the documents with each word, up to a limit. In large tables, common words are estimated from statistics. */
export async function countWords(
  db: Statements,
  index: WordIndex,
  leaves: readonly WordLeaf[],
  documents: number,
): Promise<number[]> {
  const common = documents < countedDocuments ? undefined : await readShares(db, index.name);
  const shares = leaves.map((leaf) => (leaf.kind === 'term' ? common?.get(leaf.term) : undefined));
  const uncommon = leaves.filter((_, position) => shares[position] === undefined);
  const counts = await count(db, index, uncommon);
  return shares.map((share) => (share === undefined ? (counts.shift() ?? 0) : Math.round(share * documents)));
}

/** Reads the share of documents that contain each of the most common words. Empty until the table is first analysed. */
async function readShares(db: Statements, name: string): Promise<Map<string, number>> {
  const [row] = await db.query(
    `SELECT most_common_elems::text::text[] AS terms, most_common_elem_freqs::text[] AS shares FROM pg_stats
     WHERE schemaname = 'carrel' AND tablename = '${name}_words' AND attname = 'words' AND most_common_elems IS NOT NULL`,
  );
  if (row === undefined) return new Map();
  const shares = textsOf(row, 'shares');
  return new Map(textsOf(row, 'terms').map((term, index) => [term, Number(shares[index])]));
}

async function count(db: Statements, { name }: WordIndex, leaves: readonly WordLeaf[]): Promise<number[]> {
  if (leaves.length === 0) return [];
  const rows = await db.query(
    `SELECT (SELECT count(*) FROM (SELECT 1 FROM carrel.${name}_words w WHERE w.words @@ q.words LIMIT ${countedMax}) m) AS documents
     FROM unnest((SELECT ?::tsquery[])) WITH ORDINALITY AS q (words, place) ORDER BY q.place`,
    [{ list: leaves.map(tsquery) }],
  );
  return rows.map((row) => numberOf(row, 'documents'));
}
