import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type { OriginalStore, StagedOriginal } from '../contracts/ingestion.ts';
import { numberOf, textOf } from '../statements.ts';
import type { Connections, Statements } from './connections.ts';

/** Larger pieces cost memory on both sides, smaller ones time. */
const partBytes = 1024 * 1024;

/** Bytes of documents in the database, in pieces: whoever reaches the queue reaches them, on whichever machine. */
export function createOriginals(
  connections: Connections,
  release: (hashes: readonly string[]) => Promise<number>,
): OriginalStore {
  const discard = async ({ id }: Pick<StagedOriginal, 'id'>): Promise<void> => {
    await connections.write((statements) =>
      statements.query('DELETE FROM carrel.kb_originals WHERE key = $1 AND hash IS NULL', [id]),
    );
  };
  return {
    async stage(content, { bytesMax, signal }) {
      const [row = {}] = await connections.write((statements) =>
        statements.query('INSERT INTO carrel.kb_originals (bytes) VALUES (0) RETURNING key'),
      );
      const id = String(numberOf(row, 'key'));
      const hash = createHash('sha256');
      let bytes = 0;
      let part = 0;
      try {
        for await (const piece of piecesOf(content)) {
          signal?.throwIfAborted();
          bytes += piece.byteLength;
          if (bytes > bytesMax) throw tooLarge(bytesMax);
          hash.update(piece);
          await writePart(id, part, piece);
          part += 1;
        }
      } catch (error) {
        await discard({ id }).catch(() => {});
        throw error;
      }
      return { id, hash: hash.digest('hex'), bytes };
    },
    discard,
    async open(hash) {
      const [row] = await connections.read((statements) =>
        statements.query('SELECT key, bytes FROM carrel.kb_originals WHERE hash = $1', [hash]),
      );
      if (row === undefined) return undefined;
      return { bytes: numberOf(row, 'bytes'), content: readParts(connections, numberOf(row, 'key')) };
    },
    release,
    async sweep() {
      const hashes = await connections.write(async (statements) => {
        await statements.query(
          "DELETE FROM carrel.kb_originals WHERE hash IS NULL AND staged_at < now() - interval '1 day'",
        );
        const rows = await statements.query(
          `SELECT hash FROM carrel.kb_originals o WHERE hash IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM carrel.kb_documents d WHERE d.content_hash = o.hash)
             AND NOT EXISTS (SELECT 1 FROM carrel.kb_jobs j WHERE j.content_hash = o.hash
               AND j.kind = 'ingest' AND j.status IN ('queued', 'processing'))`,
        );
        return rows.map((row) => textOf(row, 'hash'));
      });
      return release(hashes);
    },
  };

  async function writePart(id: string, part: number, piece: Buffer): Promise<void> {
    await connections.write((statements) =>
      statements.query('INSERT INTO carrel.kb_original_parts (original, part, data) VALUES ($1, $2, $3)', [
        id,
        part,
        piece,
      ]),
    );
  }
}

/** Part of the transaction that accepts the bytes. */
export async function adoptOriginal(statements: Statements, { id, hash, bytes }: StagedOriginal): Promise<void> {
  const [known] = await statements.query('SELECT key FROM carrel.kb_originals WHERE hash = $1', [hash]);
  if (known !== undefined) {
    // A failed job of the same bytes, whose own are about to be released: those that are there will do.
    await statements.query('DELETE FROM carrel.kb_originals WHERE key = $1', [id]);
    return;
  }
  await statements.query('UPDATE carrel.kb_originals SET hash = $2, bytes = $3 WHERE key = $1', [id, hash, bytes]);
}

export async function removeOriginal(statements: Statements, hash: string): Promise<void> {
  await statements.query('DELETE FROM carrel.kb_originals WHERE hash = $1', [hash]);
}

async function* readParts(connections: Connections, original: number): AsyncGenerator<Uint8Array> {
  for (let part = 0; ; part += 1) {
    const [row] = await connections.read((statements) =>
      statements.query('SELECT data FROM carrel.kb_original_parts WHERE original = $1 AND part = $2', [original, part]),
    );
    if (row === undefined) return;
    const { data } = row;
    if (!(data instanceof Uint8Array)) throw new TypeError('a part of an original holds no bytes');
    yield data;
  }
}

async function* piecesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    held.push(part);
    size += part.byteLength;
    if (size < partBytes) continue;
    yield Buffer.concat(held);
    held = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(held);
}

function tooLarge(bytesMax: number): CarrelError {
  return new CarrelError('too_large', `The file has more than ${bytesMax} bytes, the most that is taken.`, {
    data: { bytesMax },
  });
}
