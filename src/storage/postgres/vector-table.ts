import { blockOf, type VectorCorpus } from '../contracts/vectors.ts';
import type { VectorTable } from '../dialect.ts';
import { ownersOf } from '../stores/vectors/models.ts';
import { singleVectors } from '../stores/vectors/read-vectors.ts';
import type { NearestIndexes } from './nearest.ts';
import { realArray, realsOf } from './real-array.ts';
import { areComplete } from './vector-codes.ts';

/** Vectors as arrays, which need no extension. Without pgvector there are no indexes, and those who search keep an image. */
export function createVectorTable(indexes: Readonly<Record<VectorCorpus, NearestIndexes>> | undefined): VectorTable {
  return {
    column: 'array_send(vector) AS vector',
    encode: realArray,
    decode: (row) => realsOf(row['vector']),
    keepModel: 'FOR KEY SHARE',
    async beforeModel(on, corpus) {
      await on.query(`LOCK TABLE carrel.${ownersOf[corpus]} IN SHARE ROW EXCLUSIVE MODE`);
    },
    /** An index has no such need. */
    async beforeVectors(on, corpus) {
      await on.query(
        `SELECT pg_advisory_xact_lock(hashtextextended(?, 0))
         WHERE NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector')`,
        [`carrel.${corpus}_vectors`],
      );
    },
    async after(on, corpus, model, range) {
      return blockOf(await singleVectors(on, corpus, model, { ...range, end: Number.MAX_SAFE_INTEGER }));
    },
    pack: async () => undefined,
    ensureIndex: (corpus, model) => indexes?.[corpus].ensure(model),
    async indexState(on, corpus, model) {
      if (indexes === undefined) return 'memory';
      const [row] = await on.query('SELECT 1 AS valid FROM pg_index WHERE indexrelid = to_regclass(?) AND indisvalid', [
        `carrel.${corpus}_vectors_nearest_${model}`,
      ]);
      if (row === undefined) return 'none';
      return corpus === 'kb' && !(await areComplete(on, model)) ? 'none' : 'ready';
    },
  };
}
