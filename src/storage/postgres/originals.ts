import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import { inPieces } from '../../base/in-pieces.ts';
import type { OriginalStore, StagedOriginal } from '../contracts/ingestion.ts';
import type { Statements } from '../dialect.ts';
import { bytesOf, numberOf, textOf } from '../rows.ts';
import { createRelease } from '../stores/documents/release-originals.ts';
import type { Transactions } from '../transactions.ts';

/** Larger pieces cost memory on both sides, smaller ones time. */
const partBytes = 1024 * 1024;

/** Bytes of documents in the database, in pieces: whoever reaches the queue reaches them, on whichever machine. */
export function createOriginals({ read, write }: Transactions): OriginalStore {
  const release = createRelease({ write });
  return {
    async stage(content, { bytesMax, signal }) {
      const id = await write(addStaged, undefined);
      const hash = createHash('sha256');
      let bytes = 0;
      let part = 0;
      try {
        for await (const data of inPieces(content, partBytes)) {
          signal?.throwIfAborted();
          bytes += data.byteLength;
          if (bytes > bytesMax) throw tooLarge(bytesMax);
          hash.update(data);
          await write(addPart, { id, part, data });
          part += 1;
        }
      } catch (error) {
        await write(removeStaged, id).catch(() => {});
        throw error;
      }
      return { id, hash: hash.digest('hex'), bytes };
    },
    discard: ({ id }) => write(removeStaged, id),
    async open(hash) {
      const found = await read(findOriginal, hash);
      return found && { bytes: found.bytes, content: partsOf(found.key) };
    },
    release,
    sweep: async () => release(await write(forgetStaged, undefined)),
  };

  async function* partsOf(original: number): AsyncGenerator<Uint8Array> {
    for (let part = 0; ; part += 1) {
      const data = await read(readPart, { original, part });
      if (data === undefined) return;
      yield data;
    }
  }
}

/** Part of the transaction that accepts the bytes. */
export async function adoptOriginal(on: Statements, { id, hash, bytes }: StagedOriginal): Promise<void> {
  const [known] = await on.query('SELECT key FROM carrel.kb_originals WHERE hash = ?', [hash]);
  if (known !== undefined) {
    // A failed job of the same bytes, whose own are about to be released: those that are there will do.
    await on.query('DELETE FROM carrel.kb_originals WHERE key = ?', [id]);
    return;
  }
  await on.query('UPDATE carrel.kb_originals SET hash = ?, bytes = ? WHERE key = ?', [hash, bytes, id]);
}

export async function removeOriginal(on: Statements, hash: string): Promise<void> {
  await on.query('DELETE FROM carrel.kb_originals WHERE hash = ?', [hash]);
}

async function addStaged(on: Statements): Promise<string> {
  const [row = {}] = await on.query('INSERT INTO carrel.kb_originals (bytes) VALUES (0) RETURNING key');
  return String(numberOf(row, 'key'));
}

async function addPart(
  on: Statements,
  { id, part, data }: { id: string; part: number; data: Uint8Array },
): Promise<void> {
  await on.query('INSERT INTO carrel.kb_original_parts (original, part, data) VALUES (?, ?, ?)', [id, part, data]);
}

async function removeStaged(on: Statements, id: string): Promise<void> {
  await on.query('DELETE FROM carrel.kb_originals WHERE key = ? AND hash IS NULL', [id]);
}

async function findOriginal(on: Statements, hash: string): Promise<{ key: number; bytes: number } | undefined> {
  const [row] = await on.query('SELECT key, bytes FROM carrel.kb_originals WHERE hash = ?', [hash]);
  return row && { key: numberOf(row, 'key'), bytes: numberOf(row, 'bytes') };
}

async function readPart(
  on: Statements,
  { original, part }: { original: number; part: number },
): Promise<Uint8Array | undefined> {
  const [row] = await on.query('SELECT data FROM carrel.kb_original_parts WHERE original = ? AND part = ?', [
    original,
    part,
  ]);
  return row && bytesOf(row, 'data');
}

/** Forgets what was staged and never adopted. The hashes that nobody refers to. */
async function forgetStaged(on: Statements): Promise<string[]> {
  await on.query("DELETE FROM carrel.kb_originals WHERE hash IS NULL AND staged_at < now() - interval '1 day'");
  const rows = await on.query(
    `SELECT hash FROM carrel.kb_originals o WHERE hash IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM carrel.kb_documents d WHERE d.content_hash = o.hash OR d.bytes_hash = o.hash)
       AND NOT EXISTS (SELECT 1 FROM carrel.kb_deleted d WHERE d.content_hash = o.hash)
       AND NOT EXISTS (SELECT 1 FROM carrel.kb_jobs j WHERE (j.content_hash = o.hash OR j.bytes_hash = o.hash)
         AND j.kind = 'ingest' AND j.status IN ('queued', 'processing'))`,
  );
  return rows.map((row) => textOf(row, 'hash'));
}

function tooLarge(bytesMax: number): CarrelError {
  return new CarrelError(
    'too_large',
    `The file is larger than ${bytesMax} bytes, the limit. Split it, or raise KB_FILE_BYTES_MAX.`,
    {
      data: { bytesMax },
    },
  );
}
