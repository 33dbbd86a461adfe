/** Turns texts into vectors whose dot product says how near their meanings are. */
export interface EmbeddingProvider {
  /** Names provider and model. Vectors of different names must never be compared. */
  readonly name: string;
  /** Length of the vectors. Unknown for a remote model until it answered once, unless it was configured. */
  readonly dimensions: number | undefined;
  /** What computes them: native code (`cpu`) or `wasm` here, or another machine (`remote`). Unknown until it first did. */
  readonly device?: 'cpu' | 'wasm' | 'remote' | undefined;
  /** About how many characters the parts of a long text have that it is given. Unless said, what serves best here. */
  readonly windowUnits?: number;
  /** One vector of unit length for each text, in the same order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbedOptions {
  signal?: AbortSignal;
  /** Somebody waits for a query, so it goes before the passages that are being ingested. */
  purpose?: 'query' | 'passage';
}

/** Scales a vector to unit length. A zero vector stays as it is: it is near nothing. */
export function normalised(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const component of vector) squares += component * component;
  const length = Math.sqrt(squares);
  return length > 0 ? vector.map((component) => component / length) : vector;
}
