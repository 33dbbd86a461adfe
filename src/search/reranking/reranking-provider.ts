/** Reads a question and a passage together and tells how relevant the passage is. */
export interface RerankingProvider {
  /** Identifies provider and model. */
  readonly name: string;
  /** What computes: native code (`cpu`) or `wasm` here, or another machine (`remote`). Unknown until the first use. */
  readonly device: 'cpu' | 'wasm' | 'remote' | undefined;
  /**
   * A logit for each passage, in the same order: higher is more relevant. The first ones are scored first; those that were not
   * reached within the time are undefined.
   */
  score(query: string, passages: readonly string[], signal?: AbortSignal): Promise<(number | undefined)[]>;
  close(): Promise<void>;
}
