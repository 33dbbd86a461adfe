import { inPieces } from '../../base/in-pieces.ts';
import type { StagedOriginal, Statements } from '../dialect.ts';
import { createRelease, measureContent, type OriginalStore } from '../documents/originals.ts';
import { bytesOf, numberOf, textOf } from '../rows.ts';
import type { Transactions } from '../transactions.ts';

/** Size of a part in bytes. Larger parts need more memory; smaller parts take more time. */
const partBytes = 1024 * 1024;

/** Stores originals in the database, in parts, so that every process that uses the database can read them. */
export function createOriginals(transactions: Transactions): OriginalStore {
  const { read, write } = transactions;
  const discard = (id: string) =>
    write(async (db) => {
      await db.query('DELETE FROM carrel.kb_originals WHERE key = ? AND hash IS NULL', [id]);
    }, undefined);
  return {
    async stage(content, options) {
      const id = await write(addStaged, undefined);
      const original = measureContent(content, options);
      try {
        await writeParts((sql, values) => write((db) => db.query(sql, values), undefined), id, original.content);
      } catch (error) {
        await discard(id).catch(() => {});
        throw error;
      }
      return { id, ...original.result() };
    },
    discard: ({ id }) => discard(id),
    async open(hash) {
      const select: Query = (sql, values) => read((db) => db.query(sql, values), undefined);
      const [row] = await select('SELECT key, bytes FROM carrel.kb_originals WHERE hash = ?', [hash]);
      return row && { bytes: numberOf(row, 'bytes'), content: partsOf(select, numberOf(row, 'key')) };
    },
    ...createRelease(transactions, () => write(listOriginals, undefined)),
  };
}

type Query = Statements['query'];

export async function writeParts(query: Query, original: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  let part = 0;
  for await (const data of inPieces(content, partBytes)) {
    await query('INSERT INTO carrel.kb_original_parts (original, part, data) VALUES (?, ?, ?)', [original, part, data]);
    part += 1;
  }
}

export async function* partsOf(query: Query, original: number): AsyncGenerator<Uint8Array> {
  for (let part = 0; ; part += 1) {
    const sql = 'SELECT data FROM carrel.kb_original_parts WHERE original = ? AND part = ?';
    const [row] = await query(sql, [original, part]);
    if (row === undefined) return;
    yield bytesOf(row, 'data');
  }
}

/** Sets the hash of staged bytes, in the transaction that accepts them. */
export async function adoptOriginal(db: Statements, { id, hash, bytes }: StagedOriginal): Promise<void> {
  const [stored] = await db.query('SELECT key FROM carrel.kb_originals WHERE hash = ?', [hash]);
  // A failed job may have stored the same bytes already.
  if (stored !== undefined) await db.query('DELETE FROM carrel.kb_originals WHERE key = ?', [id]);
  else await db.query('UPDATE carrel.kb_originals SET hash = ?, bytes = ? WHERE key = ?', [hash, bytes, id]);
}

export async function removeOriginal(db: Statements, hash: string): Promise<void> {
  await db.query('DELETE FROM carrel.kb_originals WHERE hash = ?', [hash]);
}

async function addStaged(db: Statements): Promise<string> {
  const [row = {}] = await db.query('INSERT INTO carrel.kb_originals (bytes) VALUES (0) RETURNING key');
  return String(numberOf(row, 'key'));
}

/** Lists the hashes of all originals. Also removes originals that were staged more than a day ago and never adopted. */
async function listOriginals(db: Statements): Promise<string[]> {
  await db.query("DELETE FROM carrel.kb_originals WHERE hash IS NULL AND staged_at < now() - interval '1 day'");
  const rows = await db.query('SELECT hash FROM carrel.kb_originals WHERE hash IS NOT NULL');
  return rows.map((row) => textOf(row, 'hash'));
}
