export interface PageWindow {
  content: string;
  /** Where the next window starts: all windows together are the whole text. */
  end: number;
}

/** How much of a window may be given up for a better place to end. */
const spareShare = 0.4;

/**
 * At most `charsMax` UTF-16 units from `start` on, ending where a reader would stop: after a paragraph, or else a sentence,
 * a line or a word. A surrogate pair is never split, so a window of one unit may hold two.
 */
export function cutWindow(text: string, start: number, charsMax: number): PageWindow {
  const from = isInsidePair(text, start) ? start - 1 : start;
  if (text.length - from <= charsMax) return { content: text.slice(from), end: text.length };
  const latest = from + charsMax;
  const earliest = from + Math.ceil(charsMax * (1 - spareShare));
  const end = bestEnd(text, earliest, latest) ?? wholeCharacterEnd(text, from, latest);
  return { content: text.slice(from, end), end };
}

/** From the best kind of end to the worst; each with the white space after it. */
const ends = [/\n\s*\n\s*/g, /(?:[.!?…]["'”’)\]]*\s+)|[。！？]/g, /\n\s*/g, /\s+/g];

function bestEnd(text: string, earliest: number, latest: number): number | undefined {
  const spare = text.slice(earliest, latest);
  for (const kind of ends) {
    let end: number | undefined;
    for (const match of spare.matchAll(kind)) end = earliest + match.index + match[0].length;
    if (end !== undefined) return end;
  }
  return undefined;
}

function wholeCharacterEnd(text: string, from: number, latest: number): number {
  if (!isInsidePair(text, latest)) return latest;
  return latest - 1 > from ? latest - 1 : latest + 1;
}

function isInsidePair(text: string, at: number): boolean {
  return at > 0 && /^[\ud800-\udbff][\udc00-\udfff]/.test(text.slice(at - 1, at + 1));
}
