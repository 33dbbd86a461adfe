import type { Condition } from '../statements.ts';
import type { KeyFilter } from '../stores/words/word-table.ts';
import type { KeyList, KeyLists } from './key-lists.ts';

/**
 * A filter as a condition on the rows `w` of a word index: a byte for each key between the first and the last. A list in SQL is
 * a tree that is built anew for each statement and searched for each row: with 50,000 keys that takes longer than the search
 * itself.
 */
export function createRowFilter(keyLists: KeyLists): (filter: KeyFilter) => Condition {
  return ({ isWide, ...select }) => {
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
