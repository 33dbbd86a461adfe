import { createCountCache, weighedWords } from '../../words/ranking/candidates.ts';
import { countedMax } from '../../words/ranking/word-index.ts';
import { anyOf, type WordLeaf } from '../../words/word-query.ts';
import type { LeafCount, Statements, WordIndex, WordTable } from '../dialect.ts';
import { type BoundValue, numberOf } from '../rows.ts';
import { createVocabularyCache } from '../vocabulary-cache.ts';
import type { FreshStatistics } from './fresh-statistics.ts';
import { bigintArray, bigintsOf } from './real-array.ts';
import { hasInMore, renderWords, tsquery } from './render-words.ts';
import type { TermRows, TermVectors } from './term-rows.ts';
import type { TextCutter } from './text-cutter.ts';

/** Rows that are looked at to estimate how many documents hold a very common word. */
const sampleRows = 1000;

/**
 * Documents with a word, up to which their keys are sent along: several words are then combined here, instead of by going
 * through the index again for each step.
 */
const listedMax = 4000;

/** Of words, whenever new ones are looked for. */
const placesReadAgain = 1000;

/** Words in a tsvector for each document, or in several where there are too many. */
export function createWordTable(cutter: TextCutter, statistics: FreshStatistics): WordTable {
  /** Indexes in which a document with several was seen. The others are not asked for any. */
  const withMore = new Set<string>();
  return {
    key: 'w.key',
    tables: ['terms', 'words'],
    counts: createCountCache(),
    // A transaction may end after one that has taken later places: the last ones are read again.
    vocabulary: createVocabularyCache(async (on, { name }, after) => {
      const [row] = await on.query(
        `SELECT string_agg(term, ' ') AS terms, max(place) AS last FROM carrel.${name}_vocabulary WHERE place > ?`,
        [Math.max(0, after - placesReadAgain)],
      );
      return row;
    }),
    cut(texts) {
      const groups = cutter.cut(texts);
      return async (on, index, keys) => {
        let written = 0;
        for await (const rows of groups) {
          await insertTerms(on, index, keys.slice(written, written + rows.vectors.length), rows);
          written += rows.vectors.length;
        }
        statistics.added(index.name, keys.length);
      };
    },
    listing: {
      max: listedMax,
      async passing(on, { sql, values, isWide, onKeys }, keys) {
        const list = bigintArray(keys);
        const select =
          isWide && onKeys !== undefined
            ? {
                sql: `SELECT o.key FROM unnest(?::bigint[]) AS o (key) WHERE ${onKeys.sql}`,
                values: [list, ...onKeys.values],
              }
            : { sql: `SELECT f.key FROM (${sql}) f WHERE f.key = ANY (?::bigint[])`, values: [...values, list] };
        const [row = {}] = await on.query(`SELECT array_send(ARRAY(${select.sql})) AS keys`, select.values);
        return bigintsOf(row['keys']).sort();
      },
    },
    async count(on, { name }, leaves, documents) {
      const rows = await on.query(
        `SELECT q.place, m.total, CASE WHEN m.total <= ${listedMax} THEN array_send(m.keys) END AS keys,
           (SELECT count(*) FROM (SELECT 1 FROM carrel.${name}_more_words LIMIT 1) s) AS more
         FROM unnest((SELECT ?::tsquery[])) WITH ORDINALITY AS q (words, place) CROSS JOIN LATERAL (
           SELECT count(*) AS total, array_agg(key) AS keys FROM (
             (SELECT w.key FROM carrel.${name}_words w WHERE w.words @@ q.words LIMIT ${countedMax}) UNION ALL
             SELECT DISTINCT w.key FROM carrel.${name}_more_words w WHERE w.words @@ q.words) k) m`,
        [{ list: leaves.map(tsquery) }],
      );
      if (rows.some((row) => numberOf(row, 'more') > 0)) withMore.add(name);
      const counted: LeafCount[] = [];
      for (const row of rows) {
        const keys = row['keys'] === null ? new Float64Array() : bigintsOf(row['keys']).sort();
        const total = numberOf(row, 'total');
        counted[numberOf(row, 'place') - 1] = { documents: total, keys: total <= listedMax ? keys : undefined };
      }
      const common = leaves.filter((_, place) => (counted[place]?.documents ?? 0) >= countedMax);
      if (common.length === 0) return counted;
      const all = await documents();
      // The same rows are taken each time, so that the same order results.
      const shares = await totalsOf(
        on,
        `WITH s AS MATERIALIZED (SELECT words FROM carrel.${name}_words TABLESAMPLE SYSTEM (?) REPEATABLE (1))
         SELECT q.place, (SELECT avg((s.words @@ q.words)::int) FROM s) AS total
         FROM unnest(?::tsquery[]) WITH ORDINALITY AS q (words, place)`,
        [Math.min(100, (100 * sampleRows) / Math.max(1, all)), { list: common.map(tsquery) }],
      );
      return counted.map((count, place) => {
        const at = common.indexOf(leaves[place] as WordLeaf);
        if (at === -1) return count;
        return { documents: Math.max(count.documents, Math.round((shares[at] ?? 0) * all)) };
      });
    },
    // OFFSET keeps a subselect as it is written: each document that is found is tested.
    narrow({ sql, values, isWide, onKeys }) {
      if (!isWide) return { sql: `AND w.key IN (${sql})`, values };
      if (onKeys === undefined)
        return { sql: `AND EXISTS (SELECT 1 FROM (${sql}) f WHERE f.key = w.key OFFSET 0)`, values };
      return {
        sql: `AND EXISTS (SELECT 1 FROM (SELECT w.key) AS o (key) WHERE ${onKeys.sql} OFFSET 0)`,
        values: onKeys.values,
      };
    },
    matches({ name }, query, narrowed, plan) {
      const must = plan === undefined || plan.optional.length === 0 ? undefined : anyOf(plan.essential);
      const { sql, values, terms } = renderWords(name, query, { must, hasMore: withMore.has(name) });
      const joined = terms ? `JOIN carrel.${name}_terms t ON t.key = w.key` : '';
      return {
        sql: `FROM carrel.${name}_words w ${joined} WHERE ${sql} ${narrowed?.sql ?? ''}`,
        values: [...values, ...(narrowed?.values ?? [])],
      };
    },
    order({ name }, plan, weightOf) {
      const weights = weighedWords(plan).map((leaf) => {
        const more = withMore.has(name) ? hasInMore(name, leaf) : undefined;
        return {
          sql: `CASE WHEN w.words @@ ?::tsquery ${more ? `OR ${more.sql}` : ''} THEN ?::float8 ELSE 0 END`,
          values: [tsquery(leaf), ...(more?.values ?? []), weightOf(leaf)],
        };
      });
      return {
        sql: `${weights.map(({ sql }) => sql).join(' + ')} DESC`,
        values: weights.flatMap(({ values }) => values),
      };
    },
  };
}

async function insertTerms(
  on: Statements,
  { name }: WordIndex,
  keys: readonly number[],
  { streams, lengths, vectors, spellings }: TermRows,
): Promise<void> {
  await on.query(
    `INSERT INTO carrel.${name}_terms SELECT * FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[],
       ?::text[], ?::text[], ?::integer[], ?::integer[], ?::integer[])`,
    [keys, ...streams, ...lengths].map((list) => ({ list })),
  );
  await insertVectors(on, name, keys, vectors);
  // Without a unique index, for which transactions with the same word would wait; twice a word does no harm.
  await on.query(
    `INSERT INTO carrel.${name}_vocabulary (term) SELECT term FROM unnest(?::text[]) AS fresh (term)
     WHERE NOT EXISTS (SELECT 1 FROM carrel.${name}_vocabulary v WHERE v.term = fresh.term)`,
    [{ list: spellings }],
  );
}

/** The rows by which documents are found. */
export async function insertVectors(
  on: Pick<Statements, 'query'>,
  name: string,
  keys: readonly number[],
  vectors: readonly TermVectors[],
): Promise<void> {
  await on.query(
    `INSERT INTO carrel.${name}_words SELECT key, words::tsvector FROM unnest(?::bigint[], ?::text[]) AS fresh (key, words)`,
    [{ list: keys }, { list: vectors.map(({ words }) => words) }],
  );
  const more = vectors.flatMap((vector, place) =>
    vector.more.map((words, part) => ({ key: keys[place] ?? 0, part, words })),
  );
  if (more.length === 0) return;
  await on.query(
    `INSERT INTO carrel.${name}_more_words SELECT key, part, words::tsvector
     FROM unnest(?::bigint[], ?::integer[], ?::text[]) AS fresh (key, part, words)`,
    [more.map(({ key }) => key), more.map(({ part }) => part), more.map(({ words }) => words)].map((list) => ({
      list,
    })),
  );
}

async function totalsOf(on: Statements, sql: string, values: readonly BoundValue[]): Promise<number[]> {
  const totals: number[] = [];
  for (const row of await on.query(sql, values)) totals[numberOf(row, 'place') - 1] = numberOf(row, 'total');
  return totals;
}
