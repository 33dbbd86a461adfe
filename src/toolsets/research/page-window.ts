/** Max share of a window that may stay unused, so that it can end at a better break. */
const unusedShareMax = 0.4;

/**
 * Returns at most `charsMax` UTF-16 units from `start`, ending after a paragraph, else a sentence, line or word. `end` is
 * the start of the next window. Surrogate pairs are never split, so a window may have two units although `charsMax` is 1.
 */
export function windowAt(text: string, start: number, charsMax: number): { content: string; end: number } {
  const from = isInsidePair(text, start) ? start - 1 : start;
  if (text.length - from <= charsMax) return { content: text.slice(from), end: text.length };
  const latest = from + charsMax;
  const earliest = from + Math.ceil(charsMax * (1 - unusedShareMax));
  const end = bestEnd(text, earliest, latest) ?? wholeCharacterEnd(text, from, latest);
  return { content: text.slice(from, end), end };
}

/** Patterns of breaks where a window may end, best first, including the following white space. */
const ends = [/\n\s*\n\s*/g, /(?:[.!?…]["'”’)\]]*\s+)|[。！？]/g, /\n\s*/g, /\s+/g];

function bestEnd(text: string, earliest: number, latest: number): number | undefined {
  const candidates = text.slice(earliest, latest);
  for (const pattern of ends) {
    let end: number | undefined;
    for (const match of candidates.matchAll(pattern)) end = earliest + match.index + match[0].length;
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
