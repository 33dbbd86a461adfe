import type { SQLInputValue } from 'node:sqlite';
import { type Condition, numberOf } from '../rows.ts';
import type { Database } from './database.ts';
import { bound } from './threads/local-transactions.ts';

/** Keys, ascending, each once. */
export type KeyList = Float64Array;

/** What a SELECT of keys gives, in a column of that name, in any order and perhaps several times. */
export type KeyLists = (select: Condition) => KeyList;

/**
 * The lists that were asked for last are kept until the database changes, because a caller that filters does so in one search
 * after the other, by words and by meaning.
 */
export function createKeyLists(database: Database): KeyLists {
  const kept = new Map<string, KeyList>();
  let keptAt = '';
  return (select) => {
    const now = stateOf(database);
    if (now !== keptAt) kept.clear();
    keptAt = now;
    const values = select.values.map(bound);
    // With its length before each, no two lists of values look the same when they are joined.
    const name = [select.sql, ...values].map((value) => `${typeof value} ${String(value).length} ${value}`).join('\n');
    const keys = kept.get(name) ?? readKeys(database, select.sql, values);
    // To the end of the order, which begins with the one that was not asked for the longest.
    kept.delete(name);
    kept.set(name, keys);
    if (kept.size > keptMax) kept.delete(kept.keys().next().value ?? '');
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
  return typeof keys === 'string' ? parseKeys(keys) : new Float64Array();
}

/** Digit by digit: half the time of JSON.parse. */
function parseKeys(text: string): KeyList {
  const keys = new Float64Array((text.length + 1) / 2);
  let count = 0;
  let isAscending = true;
  for (let at = 0, key = 0; at <= text.length; at += 1) {
    const code = at === text.length ? comma : text.charCodeAt(at);
    if (code !== comma) {
      key = key * 10 + code - zero;
      continue;
    }
    if (count > 0 && key <= (keys[count - 1] ?? 0)) isAscending = false;
    keys[count] = key;
    count += 1;
    key = 0;
  }
  return isAscending ? keys.slice(0, count) : ascending(keys.subarray(0, count));
}

const comma = 0x2c;
const zero = 0x30;

/** Keys that lie close are marked and read off in their order, which takes a tenth of the time of sorting them. */
function ascending(keys: Float64Array): KeyList {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const key of keys) {
    if (key < first) first = key;
    if (key > last) last = key;
  }
  if (last - first >= markedPerKey * keys.length) return Float64Array.from(new Set(keys.sort()));
  const marks = new Uint8Array(last - first + 1);
  for (const key of keys) marks[key - first] = 1;
  const list = new Float64Array(keys.length);
  let count = 0;
  for (let at = 0; at < marks.length; at += 1) {
    if (marks[at] === 0) continue;
    list[count] = first + at;
    count += 1;
  }
  return list.slice(0, count);
}

const markedPerKey = 64;
