import { createHash } from 'node:crypto';
import { CarrelError } from '../../base/errors.ts';
import type { Transactions } from '../transactions.ts';
import { createRelease, usedOriginals } from './contents.ts';
import type { OriginalStore, StagedOriginal, StageOptions } from './ingestion.ts';

/** Counts and hashes content as it passes. Throws `too_large` over the limit. */
export interface MeasuredOriginal {
  readonly content: AsyncIterable<Uint8Array>;
  /** Available once all content has passed. */
  result(): Omit<StagedOriginal, 'id'>;
}

export function measured(content: AsyncIterable<Uint8Array>, { bytesMax, signal }: StageOptions): MeasuredOriginal {
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

/** Hashes checked per transaction, so that nobody waits for all of them. */
const sweptAtOnce = 500;

/** Releases originals, and sweeps those of `list` that nothing refers to. */
export function releasing(
  { read, write }: Transactions,
  list: () => Promise<readonly string[]>,
): Pick<OriginalStore, 'release' | 'sweep'> {
  const release = createRelease({ write });
  return {
    release,
    async sweep() {
      const hashes = await list();
      let released = 0;
      for (let first = 0; first < hashes.length; first += sweptAtOnce) {
        const some = hashes.slice(first, first + sweptAtOnce);
        const used = new Set(await read(usedOriginals, { hashes: some }));
        // Usually nothing is left over, and the write lock is not needed.
        released += await release(some.filter((hash) => !used.has(hash)));
      }
      return released;
    },
  };
}
