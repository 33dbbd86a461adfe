import { type CandidatePlan, createCountCache, weighedWords } from '../../words/ranking/candidates.ts';
import { anyOf, type WordLeaf, type WordQuery } from '../../words/word-query.ts';
import type { KeyFilter, Statements, WordIndex, WordTable } from '../dialect.ts';
import { type Condition, numberOf } from '../rows.ts';
import { createVocabularyCache } from '../vocabulary-cache.ts';
import { sumColumns } from '../word-sums.ts';
import { countWords } from './count-words.ts';
import { createFilterShares } from './filter-shares.ts';
import type { FreshStatistics } from './fresh-statistics.ts';
import { isLabelled } from './label-words.ts';
import { hasInMore, type Rendering, renderWords, tsquery } from './render-words.ts';
import type { TermRows, TermVectors } from './term-rows.ts';
import type { TextCutter } from './text-cutter.ts';
import { createWordListing } from './word-listing.ts';
import type { WordShares } from './word-shares.ts';

/** Of words, whenever new ones are looked for. */
const placesReadAgain = 1000;

/** Words in a tsvector for each document, or in several where there are too many. */
export function createWordTable(cutter: TextCutter, statistics: FreshStatistics, shares: WordShares): WordTable {
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
    listing: createWordListing(
      (index, query, filter) =>
        matching(index, query, {
          narrowed: filter && narrow(filter),
          isPlannedOnce: filter === undefined || filter.onWords !== undefined,
        }),
      ({ name }) => withMore.has(name),
      createFilterShares(),
    ),
    async sums(on, { name }) {
      const [row = {}] = await on.query(
        `SELECT ${sumColumns}, string_agg(xmin::text, ' ' ORDER BY part) AS state, (SELECT count(*) FROM (SELECT 1 FROM carrel.${name}_more_words LIMIT 1) m) AS more,
           (${isLabelled})::integer AS labelled
         FROM carrel.${name}_statistics`,
        [],
        'steady',
      );
      if (numberOf(row, 'more') > 0) withMore.add(name);
      return row;
    },
    async count(on, { name }, leaves, asked) {
      const known = shares.of(name);
      const shareOf = (leaf: WordLeaf) => (asked.keys || leaf.kind !== 'term' ? undefined : known.get(leaf.term));
      const uncounted = leaves.filter((leaf) => shareOf(leaf) === undefined);
      const counts = uncounted.length === 0 ? [] : await countWords(on, name, uncounted, asked);
      const all = await asked.documents();
      void shares.refresh(name, all);
      return leaves.map((leaf) => {
        const share = shareOf(leaf);
        return share === undefined ? (counts.shift() ?? { documents: 0 }) : { documents: Math.round(share * all) };
      });
    },
    narrow,
    matches: (index, query, narrowed, plan) => matching(index, query, { narrowed, plan }),
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

  function matching({ name }: WordIndex, query: WordQuery, { narrowed, plan, isPlannedOnce }: Matching): Condition {
    const must = plan === undefined || plan.optional.length === 0 ? undefined : anyOf(plan.essential);
    const rendering = { must, hasMore: withMore.has(name), isPlannedOnce };
    const { sql, values, terms } = renderWords(name, query, rendering);
    const joined = terms ? `JOIN carrel.${name}_terms t ON t.key = w.key` : '';
    return {
      sql: `FROM carrel.${name}_words w ${joined} WHERE ${sql} ${narrowed?.sql ?? ''}`,
      values: [...values, ...(narrowed?.values ?? [])],
    };
  }
}

interface Matching {
  readonly narrowed?: Condition | undefined;
  readonly plan?: CandidatePlan | undefined;
  readonly isPlannedOnce?: Rendering['isPlannedOnce'];
}

/** OFFSET keeps a subselect as it is written: each document that is found is tested. */
function narrow({ sql, values, isWide, onKeys, onWords }: KeyFilter): Condition {
  if (onWords !== undefined) return { sql: `AND ${onWords.sql}`, values: onWords.values };
  if (!isWide) return { sql: `AND w.key IN (${sql})`, values };
  if (onKeys === undefined)
    return { sql: `AND EXISTS (SELECT 1 FROM (${sql}) f WHERE f.key = w.key OFFSET 0)`, values };
  return {
    sql: `AND EXISTS (SELECT 1 FROM (SELECT w.key) AS o (key) WHERE ${onKeys.sql} OFFSET 0)`,
    values: onKeys.values,
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
    `INSERT INTO carrel.${name}_words (key, words) SELECT key, words::tsvector FROM unnest(?::bigint[], ?::text[]) AS fresh (key, words)`,
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
