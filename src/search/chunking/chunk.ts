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

/** Max chunk length in UTF-16 units: an answer fits into a chunk, and five chunks fit into a prompt. */
export const chunkUnitsMax = 1200;
