import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type { StagedOriginal, Statements } from '../dialect.ts';
import { lockAll, locksMax } from '../idempotency.ts';
import { batchesOf, textOf } from '../rows.ts';
import { isUnfinished } from '../schema/document-tables.ts';
import { reads, writes } from '../store-operations.ts';
import type { Transactions } from '../transactions.ts';

/** The original bytes of documents, by content hash. Each content is stored once. */
export interface OriginalStore {
  /** Writes the bytes to disk. They stay temporary until `accept` adopts them. Throws `too_large` if they exceed the limit. */
  stage(content: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedOriginal>;
  discard(staged: StagedOriginal): Promise<void>;
  open(hash: string): Promise<OpenedOriginal | undefined>;
  /** Removes the unused ones of these originals. Returns their number. */
  release(hashes: readonly string[]): Promise<number>;
  /** Removes all unused originals, which interrupted processes leave. Returns their number. */
  sweep(): Promise<number>;
}

export interface StageOptions {
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

interface OpenedOriginal {
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export const originalOperations = {
  ...reads({ used: usedOriginals }),
  ...writes({ release: releaseOriginals }),
};

/** Removes the unused ones of these originals. Returns their number. */
export async function releaseOriginals(db: Statements, { hashes }: { hashes: readonly string[] }): Promise<number> {
  const distinct = [...new Set(hashes)];
  const locks = distinct.map((hash) => `kb content ${hash}`);
  await lockAll(db, locks);
  const used = new Set(await usedOriginals(db, { hashes: distinct }));
  const unused = distinct.filter((hash) => !used.has(hash));
  for (const hash of unused) await db.dialect.originals.remove(db, hash);
  return unused.length;
}

/** Returns the hashes that a document, even a deleted one, or an unfinished job refers to. */
async function usedOriginals(db: Statements, { hashes }: { hashes: readonly string[] }): Promise<string[]> {
  const { texts } = db.dialect;
  const list = { list: hashes };
  const rows = await db.query(
    `SELECT content_hash FROM kb_documents WHERE content_hash IN (${texts})
      UNION SELECT content_hash FROM kb_deleted WHERE content_hash IN (${texts})
      UNION SELECT content_hash FROM kb_jobs WHERE content_hash IN (${texts}) AND ${isUnfinished}`,
    [list, list, list],
  );
  return rows.map((row) => textOf(row, 'content_hash'));
}

/** Creates the methods that remove unused originals. `list` returns the hashes of all originals. */
export function createRelease(
  { read, write }: Transactions,
  list: () => Promise<readonly string[]>,
): Pick<OriginalStore, 'release' | 'sweep'> {
  async function release(hashes: readonly string[]): Promise<number> {
    let released = 0;
    for (const batch of batchesOf(hashes, locksMax)) released += await write(releaseOriginals, { hashes: batch });
    return released;
  }
  return {
    release,
    async sweep() {
      let released = 0;
      for (const hashes of batchesOf(await list(), locksMax)) {
        const used = new Set(await read(usedOriginals, { hashes }));
        // Usually all are used. `release` then does nothing, and needs no write lock.
        released += await release(hashes.filter((hash) => !used.has(hash)));
      }
      return released;
    },
  };
}

interface MeasuredContent {
  readonly content: AsyncIterable<Uint8Array>;
  /** Call it when all of the content was read. */
  result(): Omit<StagedOriginal, 'id'>;
}

/** Counts and hashes the content while it is read. Throws `too_large` if it exceeds the limit. */
export function measureContent(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { bytesMax, signal }: StageOptions,
): MeasuredContent {
  const hash = createHash('sha256');
  let bytes = 0;
  return { content: measuredParts(), result: () => ({ hash: hash.digest('hex'), bytes }) };

  async function* measuredParts(): AsyncGenerator<Uint8Array> {
    for await (const part of content) {
      signal?.throwIfAborted();
      bytes += part.byteLength;
      if (bytes > bytesMax) {
        const message = `The file is larger than ${bytesMax} bytes, the limit. Split it, or raise KB_FILE_BYTES_MAX.`;
        throw new CarrelError('too_large', message, { data: { bytesMax } });
      }
      hash.update(part);
      yield part;
    }
  }
}
