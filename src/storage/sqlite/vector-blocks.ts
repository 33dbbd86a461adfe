import assert from 'node:assert/strict';
import { blockOf, type VectorBlock, type VectorCorpus, type VectorsAfter } from '../contracts/vectors.ts';
import { type Database, numberOf, type Row } from './database.ts';

/** Vectors that a block has. */
const blockVectors = 1_000;

/** The next block, or the single vectors before it. An image that has a part of the block already gets it all. */
export function vectorsAfter(
  database: Database,
  corpus: VectorCorpus,
  model: number,
  { after, limit }: Omit<VectorsAfter, 'model'>,
): VectorBlock {
  const block = database.get(
    `SELECT * FROM ${corpus}_vector_blocks WHERE model = ? AND last_key > ? ORDER BY last_key LIMIT 1`,
    ...[model, after],
  );
  const end = block === undefined ? Number.MAX_SAFE_INTEGER : numberOf(block, 'first_key');
  const rows = singleVectors(database, corpus, { model, after, end, limit });
  if (rows.length > 0 || block === undefined) return blockOf(rows);
  const scales = new Float32Array(bytesOf(block, 'scales').buffer);
  return {
    keys: new Float64Array(bytesOf(block, 'keys').buffer),
    owners: new Float64Array(bytesOf(block, 'owners').buffer),
    dimensions: bytesOf(block, 'codes').length / scales.length,
    codes: new Int8Array(bytesOf(block, 'codes').buffer),
    scales,
    packed: true,
  };
}

/** Makes the first block behind a key that can be made, and gives its last key; undefined where there is nothing to do. */
export function packNext(database: Database, corpus: VectorCorpus, model: number, after: number): number | undefined {
  const blocks = database.all(
    `SELECT first_key, last_key FROM ${corpus}_vector_blocks WHERE model = ? AND last_key > ? ORDER BY last_key`,
    ...[model, after],
  );
  let start = after;
  for (const block of [...blocks, undefined]) {
    const end = block === undefined ? Number.MAX_SAFE_INTEGER : numberOf(block, 'first_key');
    const rows = singleVectors(database, corpus, { model, after: start, end, limit: blockVectors });
    // The last ones wait until they are many; a gap is filled with what is left in it.
    if (rows.length === blockVectors || (rows.length > 0 && block !== undefined)) return store(rows);
    start = block === undefined ? start : numberOf(block, 'last_key');
  }
  return undefined;

  function store(rows: ReturnType<typeof singleVectors>): number {
    const { keys, owners, scales, codes } = blockOf(rows);
    const [first, last] = [keys[0] ?? 0, keys.at(-1) ?? 0];
    const blobs = [keys, owners, scales, codes].map((list) => new Uint8Array(list.buffer));
    database.run(
      `INSERT INTO ${corpus}_vector_blocks (model, last_key, first_key, keys, owners, scales, codes)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...[model, last, first, ...blobs],
    );
    return last;
  }
}

function singleVectors(
  database: Database,
  corpus: VectorCorpus,
  { model, after, end, limit }: { model: number; after: number; end: number; limit: number },
): { key: number; owner: number; vector: Float32Array }[] {
  return database
    .all(
      `SELECT key, owner, vector FROM ${corpus}_vectors WHERE model = ? AND key > ? AND key < ? ORDER BY key LIMIT ?`,
      ...[model, after, end, limit],
    )
    .map((row) => ({
      key: numberOf(row, 'key'),
      owner: numberOf(row, 'owner'),
      vector: new Float32Array(bytesOf(row, 'vector').buffer),
    }));
}

/** Has a buffer of its own: numbers of several bytes that begin anywhere in a larger one cannot be read. */
export function bytesOf(row: Row, column: string): Uint8Array<ArrayBuffer> {
  const value = row[column];
  assert(value instanceof Uint8Array);
  const isAlone = value.byteLength === value.buffer.byteLength && value.buffer instanceof ArrayBuffer;
  return isAlone ? (value as Uint8Array<ArrayBuffer>) : new Uint8Array(value);
}
