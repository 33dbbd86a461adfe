/** The original bytes of documents, by content hash. Each content is stored once. */
export interface OriginalStore {
  /**
   * Writes the bytes to disk under a temporary name, until `accept` adopts them. Throws `too_large` if they exceed the limit.
   */
  stage(content: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedOriginal>;
  discard(staged: StagedOriginal): Promise<void>;
  open(hash: string): Promise<OpenedOriginal | undefined>;
  /** Removes those of the originals that no document and no waiting job refers to. Returns their number. */
  release(hashes: readonly string[]): Promise<number>;
  /** Removes originals left over from interrupted processes. Returns their number. */
  sweep(): Promise<number>;
}

export interface StageOptions {
  readonly bytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

export interface StagedOriginal {
  readonly id: string;
  /** SHA-256, in hex. */
  readonly hash: string;
  readonly bytes: number;
}

interface OpenedOriginal {
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array>;
}
