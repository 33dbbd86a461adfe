/** The original bytes, by content hash, each content once. */
export interface OriginalStore {
  /** Writes the bytes to disk under a temporary name, for `accept` to adopt. Throws `too_large` over the limit. */
  stage(content: AsyncIterable<Uint8Array>, options: StageOptions): Promise<StagedOriginal>;
  discard(staged: StagedOriginal): Promise<void>;
  open(hash: string): Promise<OpenedOriginal | undefined>;
  /** Removes originals that neither a document nor a waiting job refers to. Returns their number. */
  release(hashes: readonly string[]): Promise<number>;
  /** Removes leftovers of interrupted processes. */
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
