import type { Span } from './chunk.ts';

/** Splits a sentence or line that is longer than a chunk at white space, or between characters if there is none. */
export function forcedPieces(text: string, { start, end }: Span, unitsMax: number): Span[] {
  const pieces: Span[] = [];
  for (let at = start; at < end; ) {
    let to = Math.min(end, at + unitsMax);
    if (to < end) {
      const space = text.slice(at, to).search(/\s\S*$/u);
      if (space > unitsMax / 2) to = at + space;
      else if (/[\udc00-\udfff]/.test(text.charAt(to))) to -= 1;
    }
    pieces.push({ start: at, end: to });
    at = to;
    while (at < end && /\s/u.test(text.charAt(at))) at += 1;
  }
  return pieces;
}
