import type { SQLInputValue } from 'node:sqlite';
import { type Database, numberOf } from './database.ts';

/** Which keys may be found. Without `sql`, all of them. */
export interface KeyFilter {
  /** A subselect of keys, in a column of that name. */
  readonly sql: string | undefined;
  readonly values: readonly SQLInputValue[];
  /** It names the row `w` of the word index and is asked for each row anew, instead of once for all keys. */
  readonly perRow?: boolean;
}

/** A condition on the rows `w` of a word index, to be put behind another one. */
export interface RowCondition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/**
 * Lists the keys of a filter as a byte for each one between the first and the last. A list in SQL is a tree that is built
 * anew for each statement and searched for each row: with 50,000 keys that takes longer than the search itself. The last
 * lists are kept until the database changes, because a caller that filters does so in one search after the other.
 */
export function createRowFilter(database: Database): (filter: KeyFilter) => RowCondition {
  const kept = new Map<string, RowCondition>();
  let keptAt = '';
  return (filter) => {
    if (filter.sql === undefined) return { sql: '', values: [] };
    // FTS5 is what the filter is tested against, not the other way round: it would be asked for each key anew, hence the plus.
    const listed = { sql: `AND +w.rowid IN (${filter.sql})`, values: filter.values };
    if (filter.perRow) return listed;
    const now = stateOf(database);
    if (now !== keptAt) kept.clear();
    keptAt = now;
    const name = JSON.stringify([filter.sql, ...filter.values]);
    const known = kept.get(name);
    if (known !== undefined) return known;
    const condition = byteCondition(keysOf(database, filter.sql, filter.values)) ?? listed;
    if (kept.size >= keptMax) kept.clear();
    kept.set(name, condition);
    return condition;
  };
}

const keptMax = 8;

/** Differs after every commit: the first number changes with those of others, the second with those of this connection. */
function stateOf(database: Database): string {
  const others = database.get('PRAGMA data_version') ?? {};
  const own = database.get('SELECT total_changes() AS changes') ?? {};
  return `${numberOf(others, 'data_version')} ${numberOf(own, 'changes')}`;
}

/** As one text: a row for each key would take five times as long. */
function keysOf(database: Database, sql: string, values: readonly SQLInputValue[]): number[] {
  const keys = database.get(`SELECT group_concat(key) AS keys FROM (${sql})`, ...values)?.['keys'];
  return typeof keys === 'string' ? JSON.parse(`[${keys}]`) : [];
}

function byteCondition(keys: readonly number[]): RowCondition | undefined {
  let first = keys[0];
  let last = first;
  if (first === undefined || last === undefined) return { sql: 'AND 0', values: [] };
  for (const key of keys) {
    if (key < first) first = key;
    else if (key > last) last = key;
  }
  if (last - first >= spanMax) return undefined;
  const bytes = new Uint8Array(last - first + 1);
  for (const key of keys) bytes[key - first] = 1;
  return {
    sql: "AND w.rowid BETWEEN ? AND ? AND substr(?, w.rowid - ?, 1) = x'01'",
    values: [first, last, bytes, first - 1],
  };
}

/** Bytes that are copied for each statement and kept for some filters. */
const spanMax = 4 * 1024 * 1024;
