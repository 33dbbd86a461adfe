/** A part of a text, as offsets in UTF-16 units; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

export interface Chunk extends Span {
  /** Exactly the text between the offsets. */
  text: string;
  /** The headings above, outermost first. A heading that starts the chunk is in its text as well. */
  titlePath: readonly string[];
}

export interface ChunkingOptions {
  /** The longest chunk, in UTF-16 units. Text is split between lines or sentences wherever that is possible. */
  unitsMax?: number;
}

/** As in the reference chunking of our test data. An answer fits into a chunk, and five chunks fit a prompt. */
const unitsMaxDefault = 1200;

export function chunkUnits({ unitsMax = unitsMaxDefault }: ChunkingOptions): number {
  return Math.max(16, unitsMax);
}
