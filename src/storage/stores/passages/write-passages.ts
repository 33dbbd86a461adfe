import type { IndexedTexts } from '../../../words/ranking/word-index.ts';
import type { NewPassage, PassageDocument } from '../../contracts/passages.ts';
import type { TextVectors } from '../../contracts/vectors.ts';
import type { Statements } from '../../dialect.ts';
import { type BoundValue, numberOf, textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { portionsOf } from '../portions.ts';
import { writeVectors } from '../vectors/write-vectors.ts';
import { passageWords } from '../words/word-indexes.ts';

/** Puts each document's passages in the place of those it had. */
export async function replacePassages(on: Statements, documents: readonly PassageDocument[]): Promise<void> {
  const fresh = documents.flatMap(({ parent, passages }) =>
    passages.map((passage) => rowOf(storable(parent), passage)),
  );
  const { words, passages } = on.dialect;
  // Begun before the rows are written, so that a thread can help. Written at the end: see removePassages.
  const writeWords = words.cut(fresh);
  await removePassages(
    on,
    documents.map(({ parent }) => parent),
  );
  const keys = await insertRows(on, fresh);
  await passages.complete(
    on,
    fresh.map(({ labels }, place) => ({ key: keys[place] ?? 0, labels })),
  );
  const embedded = fresh.flatMap(({ vectors }, place) =>
    vectors === undefined ? [] : [{ owner: keys[place] ?? 0, ...vectors }],
  );
  if (embedded.length > 0) await writeVectors(on, 'kb', embedded);
  await writeWords(on, passageWords, keys);
}

/** Looked for first: a statement that may remove rows of other tables makes FTS5 write out the words it has gathered. */
export async function removePassages(on: Statements, parents: readonly string[]): Promise<void> {
  const among = `${on.dialect.schema}kb_passages WHERE parent IN (${on.dialect.texts})`;
  const list = [{ list: parents.map(storable) }];
  const [known] = await on.query(`SELECT 1 AS known FROM ${among} LIMIT 1`, list);
  if (known !== undefined) await on.query(`DELETE FROM ${among}`, list);
}

/** Puts these labels on all passages of the documents, in the place of those they had. */
export async function relabelPassages(
  on: Statements,
  parents: readonly string[],
  labels: readonly string[],
): Promise<void> {
  const { schema, texts, fewIntegers, passages } = on.dialect;
  const [among, own] = [parents.map(storable), distinct(labels)];
  await passages.relabel(on, among, own);
  const rows = await on.query(`SELECT key FROM ${schema}kb_passages WHERE parent IN (${texts})`, [{ list: among }]);
  for (const some of portionsOf(rows)) {
    await on.query(`UPDATE ${schema}kb_passages SET labels = ? WHERE key IN (${fewIntegers})`, [
      { list: own },
      { list: some.map((row) => numberOf(row, 'key')) },
    ]);
  }
}

interface PassageRow extends IndexedTexts {
  readonly id: string;
  readonly values: readonly BoundValue[];
  readonly labels: readonly string[];
  readonly vectors: TextVectors | undefined;
}

function rowOf(parent: string, { position, vectors, ...passage }: NewPassage): PassageRow {
  const [id, title, body] = [storable(passage.id), storable(passage.title), storable(passage.body)];
  const headings = passage.headings.map(storable);
  const labels = distinct(passage.labels);
  return {
    ...{ id, title, heading: headings.join('\n'), body, labels, vectors },
    values: [id, parent, position, title, { list: headings }, body, { list: labels }],
  };
}

function distinct(labels: readonly string[]): string[] {
  return [...new Set(labels.map(storable))];
}

/** Their keys. */
async function insertRows(on: Statements, rows: readonly PassageRow[]): Promise<number[]> {
  const { schema, rowsAtOnce } = on.dialect;
  const keys = new Map<string, number>();
  for (let first = 0; first < rows.length; first += rowsAtOnce) {
    const some = rows.slice(first, first + rowsAtOnce);
    const places = some.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ');
    const inserted = await on.query(
      `INSERT INTO ${schema}kb_passages (id, parent, position, title, headings, body, labels) VALUES ${places}
       RETURNING id, key`,
      some.flatMap(({ values }) => values),
    );
    for (const row of inserted) keys.set(textOf(row, 'id'), numberOf(row, 'key'));
  }
  return rows.map(({ id }) => keys.get(id) ?? 0);
}
