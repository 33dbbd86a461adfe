interface PageWindow {
  content: string;
  /** Where the next window starts. Together, the windows are the whole text. */
  end: number;
}

/** Max share of a window that stays unused so that it can end at a better break. */
const spareShare = 0.4;

/**
 * Returns at most `charsMax` UTF-16 units from `start`, ending after a paragraph, else a sentence, line or word.
 * Surrogate pairs are never split, so a window may have two units although `charsMax` is 1.
 */
export function windowAt(text: string, start: number, charsMax: number): PageWindow {
  const from = isInsidePair(text, start) ? start - 1 : start;
  if (text.length - from <= charsMax) return { content: text.slice(from), end: text.length };
  const latest = from + charsMax;
  const earliest = from + Math.ceil(charsMax * (1 - spareShare));
  const end = bestEnd(text, earliest, latest) ?? wholeCharacterEnd(text, from, latest);
  return { content: text.slice(from, end), end };
}

/** Patterns of places where a window may end, best first. They include the white space that follows. */
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
