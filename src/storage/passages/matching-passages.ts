import type { Statements } from '../dialect.ts';
import { optionalTextOf } from '../rows.ts';
import { passageWords } from '../words/word-indexes.ts';
import type { PassageFilter } from './passage.ts';

/** Returns the keys of the passages that pass the filter. */
export async function matchingPassages(on: Statements, { labels = [] }: PassageFilter): Promise<number[]> {
  const { words } = on.dialect;
  const { sql, values } = words.labelled(passageWords, labels) ?? {
    sql: 'SELECT key FROM kb_passages',
    values: [],
  };
  // Returned as one text, because one row per key would take several times as long.
  const [row = {}] = await on.query(`SELECT string_agg(CAST(key AS text), ' ') AS keys FROM (${sql}) f`, values);
  return (optionalTextOf(row, 'keys')?.split(' ') ?? []).map(Number);
}
