import { createHash } from 'node:crypto';
import type { MovedValue } from './move-table.ts';

/** The content of a table, whatever the order of its rows. */
export interface RowDigest {
  add(row: readonly MovedValue[]): void;
  readonly rows: number;
  /** The sum of the SHA-256 of all rows, as 64 hexadecimal digits. */
  sum(): string;
}

const mask = 2n ** 256n - 1n;

export function createRowDigest(): RowDigest {
  let rows = 0;
  let sum = 0n;
  return {
    add(row) {
      rows += 1;
      sum =
        (sum +
          BigInt(
            `0x${createHash('sha256')
              .update(JSON.stringify(row.map(plain)))
              .digest('hex')}`,
          )) &
        mask;
    },
    get rows() {
      return rows;
    },
    sum: () => sum.toString(16).padStart(64, '0'),
  };
}

function plain(value: MovedValue): unknown {
  if (value instanceof Float32Array || value instanceof Uint8Array) {
    return { bytes: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64') };
  }
  // A text and a list of the same look differ.
  return value;
}

/** Adds every row that passes. */
export async function* digested(
  rows: AsyncIterable<MovedValue[]> | Iterable<MovedValue[]>,
  digest: RowDigest,
): AsyncGenerator<MovedValue[]> {
  for await (const row of rows) {
    digest.add(row);
    yield row;
  }
}
