import type { ModelState, VectorBlock, VectorCorpus, VectorsAfter } from '../../contracts/vectors.ts';
import type { Row, Statements } from '../../statements.ts';

export interface StoredModel {
  readonly key: number;
  /** Undefined until the first vector. */
  readonly dimensions: number | undefined;
}

/** What the databases do differently with vectors. */
export interface VectorTable {
  /** The components of a vector, as a column `vector` of a SELECT. */
  readonly column: string;
  encode(vector: Float32Array): Uint8Array;
  decode(row: Row): Float32Array;
  /** Behind a SELECT of a model that must not be dropped until the end. */
  readonly keepModel: string;
  /** Before a model is listed: no text may be written by somebody who cannot see it yet and would not enlist the text. */
  beforeModel(on: Statements, corpus: VectorCorpus): Promise<void>;
  /** Before vectors are inserted: where images in memory follow the keys, none must appear behind a later one. */
  beforeVectors(on: Statements, corpus: VectorCorpus): Promise<void>;
  /** The vectors of a model behind a key, ascending. */
  after(
    on: Statements,
    corpus: VectorCorpus,
    model: number,
    range: Pick<VectorsAfter, 'after' | 'limit'>,
  ): Promise<VectorBlock>;
  /** Packs the first vectors behind a key into a block. Its last key; undefined when there is nothing left to pack. */
  pack(on: Statements, corpus: VectorCorpus, model: number, after: number): Promise<number | undefined>;
  /** Has the index of a model, which is on disk, made in the background, where the database has one and it is missing. */
  ensureIndex(corpus: VectorCorpus, model: StoredModel): void;
  indexState(on: Statements, corpus: VectorCorpus, model: number): Promise<ModelState['index']>;
}
