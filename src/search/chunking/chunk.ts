/** A part of a text, as offsets in UTF-16 units; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

export interface Chunk extends Span {
  /** The text between the offsets. */
  text: string;
  /** The headings above the chunk, outermost first. A heading that starts the chunk is also in its text. */
  titlePath: readonly string[];
}

export interface ChunkingOptions {
  /** Max chunk length in UTF-16 units. */
  unitsMax?: number;
}

/** Default chunk length: an answer fits into a chunk, and five chunks fit into a prompt. */
const unitsMaxDefault = 1200;

export function chunkUnits({ unitsMax = unitsMaxDefault }: ChunkingOptions): number {
  return Math.max(16, unitsMax);
}
