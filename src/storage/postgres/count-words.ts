import { countedMax } from '../../words/ranking/word-index.ts';
import type { WordQuery } from '../../words/word-query.ts';
import type { CountRequest, LeafCount, Statements } from '../dialect.ts';
import { type Condition, numberOf } from '../rows.ts';
import { bigintsOf } from './real-array.ts';
import { tsquery } from './render-words.ts';

/** Rows that are looked at to estimate how many documents hold a very common word. */
const sampleRows = 1000;

/**
 * Documents with a word, up to which their keys are sent where they are asked for: several words are then combined here,
 * instead of by going through the index again for each step.
 */
export const listedMax = 40_000;

/** Up to which they are sent along with their number: it may well be that nobody needs them. */
const sentMax = 4000;

/** Goes through the documents of each word, up to a number. In the order of the words. */
export async function countWords(
  on: Statements,
  name: string,
  leaves: readonly WordQuery[],
  { documents, keys: asksKeys, filter }: CountRequest,
): Promise<LeafCount[]> {
  const keysMax = asksKeys ? listedMax : sentMax;
  const foundMax = asksKeys ? listedMax + 1 : countedMax;
  const found = foundBy(name, filter?.onWords, foundMax);
  const rows = await on.query(
    `SELECT q.place, m.total, CASE WHEN m.total <= ${keysMax} THEN array_send(m.keys) END AS keys
     FROM unnest((SELECT ?::tsquery[])) WITH ORDINALITY AS q (words, place) CROSS JOIN LATERAL (
       SELECT count(*) AS total, array_agg(key) AS keys FROM (${found.sql}) k) m`,
    [{ list: leaves.map(tsquery) }, ...found.values],
  );
  const counts: LeafCount[] = [];
  for (const row of rows) {
    const keys = row['keys'] === null ? new Float64Array() : bigintsOf(row['keys']).sort();
    const total = numberOf(row, 'total');
    counts[numberOf(row, 'place') - 1] = { documents: total, keys: total <= keysMax ? keys : undefined };
  }
  const common = asksKeys ? [] : leaves.filter((_, place) => (counts[place]?.documents ?? 0) >= countedMax);
  if (common.length === 0) return counts;
  const all = await documents();
  const shares = await estimateShares(on, name, common, all);
  return counts.map((count, place) => {
    const share = shares.get(leaves[place] as WordQuery);
    return share === undefined ? count : { documents: Math.max(count.documents, Math.round(share * all)) };
  });
}

/** The keys of what `q` finds. */
function foundBy(name: string, passing: Condition | undefined, max: number): Condition {
  const also = passing === undefined ? '' : ` AND ${passing.sql}`;
  const own = passing === undefined ? '' : `JOIN carrel.${name}_words w ON w.key = m.key`;
  return {
    sql: `(SELECT w.key FROM carrel.${name}_words w WHERE w.words @@ q.words${also} LIMIT ${max}) UNION ALL
      SELECT DISTINCT m.key FROM carrel.${name}_more_words m ${own} WHERE m.words @@ q.words${also}`,
    values: [...(passing?.values ?? []), ...(passing?.values ?? [])],
  };
}

/** The same rows are taken each time, so that the same order results. */
async function estimateShares(
  on: Statements,
  name: string,
  common: readonly WordQuery[],
  documents: number,
): Promise<ReadonlyMap<WordQuery, number>> {
  const rows = await on.query(
    `WITH s AS MATERIALIZED (SELECT words FROM carrel.${name}_words TABLESAMPLE SYSTEM (?) REPEATABLE (1))
     SELECT q.place, (SELECT avg((s.words @@ q.words)::int) FROM s) AS share
     FROM unnest(?::tsquery[]) WITH ORDINALITY AS q (words, place)`,
    [Math.min(100, (100 * sampleRows) / Math.max(1, documents)), { list: common.map(tsquery) }],
  );
  return new Map(rows.map((row) => [common[numberOf(row, 'place') - 1] as WordQuery, numberOf(row, 'share')]));
}
