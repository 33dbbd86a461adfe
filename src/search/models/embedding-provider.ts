/** Turns texts into vectors whose dot products measure similarity of meaning. */
export interface EmbeddingProvider {
  /** Identifies provider and model. Vectors of providers with different names must never be compared. */
  readonly name: string;
  /** Length of the vectors. Unknown for a remote model until its first answer, unless configured. */
  readonly dimensions: number | undefined;
  /** Where the model runs: native code (`cpu`), `wasm`, or another machine (`remote`). Unknown until the first use. */
  readonly device?: 'cpu' | 'wasm' | 'remote' | undefined;
  /** Preferred characters per part of a long text. */
  readonly windowUnits?: number;
  /** Returns one unit vector per text, in the same order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbedOptions {
  signal?: AbortSignal;
  /** Queries are embedded before passages, because a search is waiting for them. */
  purpose?: 'query' | 'passage';
}

/** Scales a vector to unit length. A zero vector stays zero. */
export function normalised(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const component of vector) squares += component * component;
  const length = Math.sqrt(squares);
  return length > 0 ? vector.map((component) => component / length) : vector;
}
