import type { WeighedWords, WeighRequest } from '../../../words/ranking/word-index.ts';
import type { PassageFilter, PassagePage, PassageSearch, StoredPassage } from '../../contracts/passages.ts';
import type { Statements } from '../../dialect.ts';
import type { IdPages } from '../../id-set.ts';
import { numberOf, type Row, textOf, textsOf } from '../../rows.ts';
import { findWords, weighWords } from '../words/find-words.ts';
import { passageWords } from '../words/word-indexes.ts';

export async function getPassages(on: Statements, keys: readonly number[]): Promise<StoredPassage[]> {
  const rows = await rowsByKey(on, '*', keys);
  return keys.flatMap((key) => {
    const row = rows.get(key);
    return row === undefined ? [] : [passageOf(row)];
  });
}

export async function searchPassages(
  on: Statements,
  { query, filter = {}, ...page }: PassageSearch,
): Promise<PassagePage> {
  const narrowed = on.dialect.passages.filter(filter);
  const { found, total, scoreMax, mended } = await findWords(on, passageWords, query, narrowed, page);
  const keys = found.map(({ key }) => key);
  const rows = await rowsByKey(on, 'key, id, parent, position', keys);
  const hits = found.flatMap(({ key, ...scores }) => {
    const row = rows.get(key);
    if (row === undefined) return [];
    const [id, parent, position] = [textOf(row, 'id'), textOf(row, 'parent'), numberOf(row, 'position')];
    return [{ key, id, parent, position, ...scores }];
  });
  return { hits, total, scoreMax, mended };
}

export async function weighPassages(on: Statements, request: WeighRequest): Promise<WeighedWords> {
  return weighWords(on, passageWords, request, 'last');
}

/** The keys that the filter lets through. */
export async function matchingPassages(on: Statements, filter: PassageFilter): Promise<IdPages> {
  const { schema, passages } = on.dialect;
  return passages.keys(
    on,
    passages.filter(filter) ?? { sql: `SELECT key FROM ${schema}kb_passages ORDER BY key`, values: [] },
  );
}

async function rowsByKey(on: Statements, columns: string, keys: readonly number[]): Promise<Map<number, Row>> {
  const { schema, integers } = on.dialect;
  const sql = `SELECT ${columns} FROM ${schema}kb_passages WHERE key IN (${integers})`;
  const rows = await on.query(sql, [{ list: keys }], 'last');
  return new Map(rows.map((row) => [numberOf(row, 'key'), row]));
}

function passageOf(row: Row): StoredPassage {
  return {
    key: numberOf(row, 'key'),
    id: textOf(row, 'id'),
    parent: textOf(row, 'parent'),
    position: numberOf(row, 'position'),
    title: textOf(row, 'title'),
    headings: textsOf(row, 'headings'),
    body: textOf(row, 'body'),
    labels: textsOf(row, 'labels'),
  };
}
