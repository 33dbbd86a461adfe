import type { SQLInputValue } from 'node:sqlite';
import { type Database, numberOf } from './database.ts';

/** Keys, ascending. */
export type KeyList = Float64Array;

/**
 * What a subselect of keys gives, in a column of that name. The last lists are kept until the database changes, because a
 * caller that filters does so in one search after the other.
 */
export function createKeyLists(database: Database): (sql: string, values: readonly SQLInputValue[]) => KeyList {
  const kept = new Map<string, KeyList>();
  let keptAt = '';
  return (sql, values) => {
    const now = stateOf(database);
    if (now !== keptAt) kept.clear();
    keptAt = now;
    const name = JSON.stringify([sql, ...values]);
    const known = kept.get(name);
    if (known !== undefined) return known;
    const keys = readKeys(database, sql, values);
    if (kept.size >= keptMax) kept.clear();
    kept.set(name, keys);
    return keys;
  };
}

const keptMax = 4;

/** Differs after every commit: the first number changes with those of others, the second with those of this connection. */
function stateOf(database: Database): string {
  const others = database.get('PRAGMA data_version') ?? {};
  const own = database.get('SELECT total_changes() AS changes') ?? {};
  return `${numberOf(others, 'data_version')} ${numberOf(own, 'changes')}`;
}

/** As one text: a row for each key would take five times as long. */
function readKeys(database: Database, sql: string, values: readonly SQLInputValue[]): KeyList {
  const keys = database.get(`SELECT group_concat(key) AS keys FROM (${sql})`, ...values)?.['keys'];
  return typeof keys === 'string' ? Float64Array.from(JSON.parse(`[${keys}]`)).sort() : new Float64Array();
}
