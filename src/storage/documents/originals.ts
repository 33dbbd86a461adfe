import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type { Statements } from '../dialect.ts';
import { lockAll, locksMax } from '../idempotency.ts';
import { batchesOf, textOf } from '../rows.ts';
import { isWaiting } from '../schema/document-tables.ts';
import { reads, writes } from '../store-operations.ts';
import type { Transactions } from '../transactions.ts';
/** The original bytes of documents, by content hash. Each content is stored once. */
export interface OriginalStore {
  /**
   * Writes the bytes to disk under a temporary name, until `accept` adopts them. Throws `too_large` if they exceed the limit.
   */
  stage(content: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedOriginal>;
  discard(staged: StagedOriginal): Promise<void>;
  open(hash: string): Promise<OpenedOriginal | undefined>;
  /** Removes those of the originals that no document and no waiting job refers to. Returns their number. */
  release(hashes: readonly string[]): Promise<number>;
  /** Removes originals left over from interrupted processes. Returns their number. */
  sweep(): Promise<number>;
}

export interface StageOptions {
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

export interface StagedOriginal {
  readonly id: string;
  /** SHA-256, in hex. */
  readonly hash: string;
  readonly bytes: number;
}

interface OpenedOriginal {
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}

export const originalOperations = {
  ...reads({ used: usedOriginals }),
  ...writes({ release: releaseOriginals }),
};

/** Removes those of the originals that no document (deleted or not) and no waiting job refers to. Returns their number. */
export async function releaseOriginals(on: Statements, { hashes }: { hashes: readonly string[] }): Promise<number> {
  const given = [...new Set(hashes)];
  await lockAll(
    on,
    given.map((hash) => `kb content ${hash}`),
  );
  const used = new Set(await usedOriginals(on, { hashes: given }));
  const unused = given.filter((hash) => !used.has(hash));
  for (const hash of unused) await on.dialect.originals.remove(on, hash);
  return unused.length;
}

/** Returns those of the hashes that a document (deleted or not) or a waiting job refers to. */
async function usedOriginals(on: Statements, { hashes }: { hashes: readonly string[] }): Promise<string[]> {
  const { texts } = on.dialect;
  const list = { list: hashes };
  const rows = await on.query(
    `SELECT content_hash FROM kb_documents WHERE content_hash IN (${texts})
      UNION SELECT content_hash FROM kb_deleted WHERE content_hash IN (${texts})
      UNION SELECT content_hash FROM kb_jobs WHERE content_hash IN (${texts}) AND ${isWaiting}`,
    [list, list, list],
  );
  return rows.map((row) => textOf(row, 'content_hash'));
}

/** Creates the methods that remove unused originals. `list` returns the hashes of all originals. */
export function releasing(
  { read, write }: Transactions,
  list: () => Promise<readonly string[]>,
): Pick<OriginalStore, 'release' | 'sweep'> {
  async function release(hashes: readonly string[]): Promise<number> {
    let released = 0;
    for (const some of batchesOf(hashes, locksMax)) released += await write(releaseOriginals, { hashes: some });
    return released;
  }
  return {
    release,
    async sweep() {
      let released = 0;
      for (const hashes of batchesOf(await list(), locksMax)) {
        const used = new Set(await read(usedOriginals, { hashes }));
        // Usually there are none. `release` then does nothing, and needs no write lock.
        released += await release(hashes.filter((hash) => !used.has(hash)));
      }
      return released;
    },
  };
}

/** Counts and hashes the content while it is read. Throws `too_large` if it exceeds the limit. */
interface MeasuredOriginal {
  readonly content: AsyncIterable<Uint8Array>;
  /** Available once all of the content was read. */
  result(): Omit<StagedOriginal, 'id'>;
}

export function measured(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { bytesMax, signal }: StageOptions,
): MeasuredOriginal {
  const hash = createHash('sha256');
  let bytes = 0;
  return { content: passing(), result: () => ({ hash: hash.digest('hex'), bytes }) };

  async function* passing(): AsyncGenerator<Uint8Array> {
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
