import type { SQLInputValue } from 'node:sqlite';
import type { Database } from './database.ts';
import { createKeyLists, type KeyList } from './key-lists.ts';

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
 * anew for each statement and searched for each row: with 50,000 keys that takes longer than the search itself.
 */
export function createRowFilter(database: Database): (filter: KeyFilter) => RowCondition {
  const list = createKeyLists(database);
  return (filter) => {
    if (filter.sql === undefined) return { sql: '', values: [] };
    // FTS5 is what the filter is tested against, not the other way round: it would be asked for each key anew, hence the plus.
    const listed = { sql: `AND +w.rowid IN (${filter.sql})`, values: filter.values };
    return filter.perRow ? listed : (byteCondition(list(filter.sql, filter.values)) ?? listed);
  };
}

function byteCondition(keys: KeyList): RowCondition | undefined {
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
