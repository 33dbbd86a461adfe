import type { BlockKind } from './blocks.ts';

/** A part of a text, as offsets in UTF-16 units; `end` is the first one behind it. */
export interface Span {
  start: number;
  end: number;
}

export interface Chunk extends Span {
  /** Exactly the text between the offsets. */
  text: string;
  /** The headings above, outermost first. A heading that opens the chunk is in its text as well. */
  titlePath: readonly string[];
  kind: BlockKind;
}

export interface ChunkingOptions {
  /** Length of a chunk in UTF-16 units. Only what cannot be cut at a line or sentence end is ever cut elsewhere. */
  unitsMax?: number;
}

/** The length at which the reference chunking of our test data was made; an answer fits in, and five fit a prompt. */
const unitsMaxDefault = 1200;

export function chunkUnits({ unitsMax = unitsMaxDefault }: ChunkingOptions): number {
  return Math.max(16, unitsMax);
}
