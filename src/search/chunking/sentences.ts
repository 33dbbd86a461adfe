import type { Span } from './chunk.ts';

/** Returns the sentences in a span, without the white space between them. */
export function sentencesOf(text: string, { start, end }: Span): Span[] {
  const spans: Span[] = [];
  for (const { segment, index } of segments(text.slice(start, end))) {
    const body = segment.trim();
    if (body === '') continue;
    const from = start + index + segment.indexOf(body);
    spans.push({ start: from, end: from + body.length });
  }
  return spans;
}

// Uses the root locale: its rules suit nearly all languages, and it has no list of abbreviations that could be wrong.
let segmenter: Intl.Segmenter | undefined;

function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'sentence' });
  return segmenter.segment(text);
}

/** Splits a sentence or line longer than a chunk at white space, or else between characters. */
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
