import type { Span } from './chunk.ts';

/** The sentences of a part of a text, without the white space between them. */
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

// The rules are the same for nearly all languages, and the root locale has no list of abbreviations that could be wrong.
let segmenter: Intl.Segmenter | undefined;

function segments(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'sentence' });
  return segmenter.segment(text);
}
