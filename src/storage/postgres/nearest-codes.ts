import type { PassageFilter } from '../contracts/passages.ts';
import type { Condition } from '../rows.ts';
import { storable } from '../storable.ts';
import { estimateSql } from './code-estimate.ts';
import { passageCondition } from './passage-table.ts';
import { realArray } from './real-array.ts';
import { labelHash, namesOf } from './vector-codes.ts';

interface CodesRequest {
  readonly query: Float32Array;
  readonly limit: number;
  readonly extension: string;
  /** Tables of the labels of the first group. */
  readonly tables?: readonly string[] | undefined;
  /**
   * Leaves out, before the rest is put in order, what is farther than a sample says the last one is; there may be too few then.
   * Those that are left are put in order by `estimateSql`.
   */
  readonly isBounded?: boolean;
}

/**
 * The vectors that pass and whose codes are nearest, as a statement: the `place` of each is its distance and its key. What the
 * first group of labels lets through is read, or what is in the documents, and the rest of the filter is asked about each
 * combination of labels.
 */
export function nearestCodes(model: number, { labels = [], parents }: PassageFilter, request: CodesRequest): Condition {
  const { query, limit, extension, tables, isBounded = false } = request;
  const { table, sets, listed, code } = namesOf(model);
  const [first, ...others] = labels;
  const isListed = parents === undefined && first !== undefined;
  const apart = `(o.code OPERATOR(${extension}.<~>) (SELECT code FROM query))`;
  const conditions: Condition[] = [];
  if (isListed && tables === undefined) {
    const hashes = `SELECT ${labelHash('l')} FROM unnest(?::text[]) l`;
    conditions.push({ sql: `o.label = ANY (ARRAY(${hashes}))`, values: [{ list: first.map(storable) }] });
  }
  const bySet = isListed && others.length === 0 ? undefined : passageCondition({ labels });
  if (bySet !== undefined) {
    const members = `SELECT o.set FROM (SELECT labels AS set, members AS labels FROM ${sets}) o WHERE ${bySet.sql}`;
    conditions.push({ sql: `(o.labels IN (${members})) IS TRUE`, values: bySet.values });
  }
  conditions.push(...[passageCondition({ parents })].filter((condition) => condition !== undefined));
  const [own, ...rest] = tables ?? [isListed ? listed : table];
  if (own !== undefined && isBounded)
    conditions.push({ sql: `${apart} <= (${boundOf(own, apart, limit)})`, values: [] });
  const from =
    rest.length === 0 ? own : `(${[own, ...rest].map((name) => `SELECT * FROM ${name}`).join(' UNION ALL ')})`;
  // A passage with several labels of the group is listed as often.
  const copies = isListed ? first.length : 1;
  const estimate = isBounded ? estimateSql(query, extension) : undefined;
  return {
    sql: `WITH query AS MATERIALIZED (SELECT ${code}(?::real[]) AS code)
      SELECT ${copies > 1 ? 'DISTINCT' : ''} ${estimate ? placeOf('n.estimate', 'n.place') : 'n.place'} AS place FROM (
        SELECT ${placeOf(apart, 'o.key')} AS place ${estimate ? `, ${estimate.sql} AS estimate` : ''}
        FROM ${from} o WHERE ${['TRUE', ...conditions.map(({ sql }) => sql)].join(' AND ')}
        ORDER BY place LIMIT ${limit * copies}) n
      ORDER BY place LIMIT ${limit}`,
    values: [realArray(query), ...(estimate?.values ?? []), ...conditions.flatMap(({ values }) => values)],
  };
}

/** Of the pages of a table. */
const sampledShare = 1 / 48;

/** How far so many of a table are at most, with four deviations to spare, since rows of a page are alike. */
function boundOf(table: string, apart: string, limit: number): string {
  const expected = limit * sampledShare;
  return `SELECT max(s.apart) FROM (SELECT ${apart} AS apart FROM ${table} o TABLESAMPLE SYSTEM (${100 * sampledShare})
    ORDER BY apart LIMIT ${Math.ceil(expected + 4 * Math.sqrt(expected) + 4)}) s`;
}

/**
 * Distance and key are sorted as one number, which takes half as long as rows do. The largest estimate, of 4,000 dimensions, has 18
 * bits.
 */
const keyBits = 44n;
const keyMask = 2n ** keyBits - 1n;

/** Of a key, or of a place whose distance is replaced. */
function placeOf(distance: string, key: string): string {
  return `((${distance})::bigint << ${keyBits}) | (${key} & ${keyMask})`;
}

export const keyOf = (place: string) => `(${place} & ${keyMask})`;
export const distanceOf = (place: string) => `(${place} >> ${keyBits})::float8`;
