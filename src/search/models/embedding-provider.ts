/** Turns texts into vectors whose dot products tell how similar their meanings are. */
export interface EmbeddingProvider {
  /** Identifies provider and model. Vectors of different names must never be compared. */
  readonly name: string;
  /** The length of the vectors. Unknown for a remote model until its first answer, unless configured. */
  readonly dimensions: number | undefined;
  /** What computes them: native code (`cpu`) or `wasm` here, or another machine (`remote`). Unknown until the first use. */
  readonly device?: 'cpu' | 'wasm' | 'remote' | undefined;
  /** About how many characters each part of a long text should have. By default what measured best. */
  readonly windowUnits?: number;
  /** One vector of unit length for each text, in the same order. */
  embed(texts: readonly string[], options?: EmbedOptions): Promise<Float32Array[]>;
  close(): Promise<void>;
}

export interface EmbedOptions {
  signal?: AbortSignal;
  /** A query goes before passages that are being ingested, because somebody is waiting for it. */
  purpose?: 'query' | 'passage';
}

/** Scales a vector to unit length. A zero vector stays as it is: it is near nothing. */
export function normalised(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const component of vector) squares += component * component;
  const length = Math.sqrt(squares);
  return length > 0 ? vector.map((component) => component / length) : vector;
}
