import { inPieces } from '../../base/in-pieces.ts';
import type { Statements } from '../dialect.ts';
import type { OriginalStore, StagedOriginal } from '../documents/original-store.ts';
import { measured, releasing } from '../documents/originals.ts';
import { bytesOf, numberOf, textOf } from '../rows.ts';
import type { Transactions } from '../transactions.ts';

/** Larger pieces cost memory on both sides, smaller ones time. */
const partBytes = 1024 * 1024;

/** Bytes of documents, in pieces in the database, so that every process on it can read them. */
export function createOriginals(transactions: Transactions): OriginalStore {
  const { read, write } = transactions;
  const discard = (id: string) =>
    write(async (on) => {
      await on.query('DELETE FROM carrel.kb_originals WHERE key = ? AND hash IS NULL', [id]);
    }, undefined);
  return {
    async stage(content, options) {
      const id = await write(addStaged, undefined);
      const original = measured(content, options);
      let part = 0;
      try {
        for await (const data of inPieces(original.content, partBytes)) {
          const values = [id, part, data];
          await write(
            (on) => on.query('INSERT INTO carrel.kb_original_parts (original, part, data) VALUES (?, ?, ?)', values),
            undefined,
          );
          part += 1;
        }
      } catch (error) {
        await discard(id).catch(() => {});
        throw error;
      }
      return { id, ...original.result() };
    },
    discard: ({ id }) => discard(id),
    async open(hash) {
      const [row] = await read(
        (on) => on.query('SELECT key, bytes FROM carrel.kb_originals WHERE hash = ?', [hash]),
        undefined,
      );
      return row && { bytes: numberOf(row, 'bytes'), content: partsOf(numberOf(row, 'key')) };
    },
    ...releasing(transactions, () => write(listOriginals, undefined)),
  };

  async function* partsOf(original: number): AsyncGenerator<Uint8Array> {
    for (let part = 0; ; part += 1) {
      const values = [original, part];
      const [row] = await read(
        (on) => on.query('SELECT data FROM carrel.kb_original_parts WHERE original = ? AND part = ?', values),
        undefined,
      );
      if (row === undefined) return;
      yield bytesOf(row, 'data');
    }
  }
}

/** Part of the transaction that accepts the bytes. */
export async function adoptOriginal(on: Statements, { id, hash, bytes }: StagedOriginal): Promise<void> {
  const [known] = await on.query('SELECT key FROM carrel.kb_originals WHERE hash = ?', [hash]);
  // The same bytes may be left over from a failed job.
  if (known !== undefined) await on.query('DELETE FROM carrel.kb_originals WHERE key = ?', [id]);
  else await on.query('UPDATE carrel.kb_originals SET hash = ?, bytes = ? WHERE key = ?', [hash, bytes, id]);
}

export async function removeOriginal(on: Statements, hash: string): Promise<void> {
  await on.query('DELETE FROM carrel.kb_originals WHERE hash = ?', [hash]);
}

async function addStaged(on: Statements): Promise<string> {
  const [row = {}] = await on.query('INSERT INTO carrel.kb_originals (bytes) VALUES (0) RETURNING key');
  return String(numberOf(row, 'key'));
}

/** Lists all hashes. Also removes originals that were staged a day ago and never adopted. */
async function listOriginals(on: Statements): Promise<string[]> {
  await on.query("DELETE FROM carrel.kb_originals WHERE hash IS NULL AND staged_at < now() - interval '1 day'");
  const rows = await on.query('SELECT hash FROM carrel.kb_originals WHERE hash IS NOT NULL');
  return rows.map((row) => textOf(row, 'hash'));
}
