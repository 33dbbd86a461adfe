import type { VectorTable } from '../dialect.ts';
import { bytesOf, numberOf, type Row } from '../rows.ts';
import { singleVectors } from '../vectors/read-vectors.ts';
import { blockOf } from '../vectors/vector.ts';

/** Number of vectors per block. */
const blockVectors = 1_000;

/**
 * Stores vectors as bytes. An in-memory index, which is loaded from blocks, finds the nearest ones: scanning shared memory is
 * faster than any search in SQLite (docs/decisions/0012-meaning.md).
 */
export const vectorTable: VectorTable = {
  column: 'vector',
  encode: (vector) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength),
  decode: (row) => new Float32Array(ownBuffer(row, 'vector')),
  keepModel: '',
  // Neither needs a lock: there is one writer at a time.
  beforeModel: async () => {},
  beforeVectors: async () => {},
  /** Returns the next block, or the single vectors before it. If `after` is inside a block, returns the whole block. */
  async after(on, corpus, model, { after, limit }) {
    const [block] = await on.query(
      `SELECT * FROM ${corpus}_vector_blocks WHERE model = ? AND last_key > ? ORDER BY last_key LIMIT 1`,
      [model, after],
    );
    const end = block === undefined ? Number.MAX_SAFE_INTEGER : numberOf(block, 'first_key');
    const rows = await singleVectors(on, corpus, model, { after, end, limit });
    if (rows.length > 0 || block === undefined) return blockOf(rows);
    const scales = new Float32Array(ownBuffer(block, 'scales'));
    const codes = new Int8Array(ownBuffer(block, 'codes'));
    return {
      keys: new Float64Array(ownBuffer(block, 'keys')),
      owners: new Float64Array(ownBuffer(block, 'owners')),
      dimensions: codes.length / scales.length,
      codes,
      scales,
      packed: true,
    };
  },
  async pack(on, corpus, model, after) {
    const blocks = await on.query(
      `SELECT first_key, last_key FROM ${corpus}_vector_blocks WHERE model = ? AND last_key > ? ORDER BY last_key`,
      [model, after],
    );
    let start = after;
    for (const block of [...blocks, undefined]) {
      const end = block === undefined ? Number.MAX_SAFE_INTEGER : numberOf(block, 'first_key');
      const rows = await singleVectors(on, corpus, model, { after: start, end, limit: blockVectors });
      // The newest vectors are packed only once they fill a block. Vectors between two blocks are packed even if they are
      // fewer.
      if (rows.length === blockVectors || (rows.length > 0 && block !== undefined)) {
        const { keys, owners, scales, codes } = blockOf(rows);
        const [first, last] = [keys[0] ?? 0, keys.at(-1) ?? 0];
        const blobs = [keys, owners, scales, codes].map((list) => new Uint8Array(list.buffer));
        await on.query(
          `INSERT INTO ${corpus}_vector_blocks (model, last_key, first_key, keys, owners, scales, codes)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          [model, last, first, ...blobs],
        );
        return last;
      }
      start = block === undefined ? start : numberOf(block, 'last_key');
    }
    return undefined;
  },
  ensureIndex: () => {},
  dropIndex: async () => {},
  indexState: async () => 'memory',
};

/** Returns the bytes in a buffer of their own, because typed arrays need aligned buffers. */
function ownBuffer(row: Row, column: string): ArrayBuffer {
  const bytes = bytesOf(row, column);
  const isAlone = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
  return isAlone ? bytes.buffer : new Uint8Array(bytes).buffer;
}
