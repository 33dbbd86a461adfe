import type { TextVectors } from './vectors.ts';

/** A chunk as it is written. Title and tags are those of its document. */
export interface NewChunk {
  readonly text: string;
  /** From the outermost to the nearest. */
  readonly headings: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Where it was embedded before it is stored. */
  readonly vectors?: TextVectors | undefined;
}
