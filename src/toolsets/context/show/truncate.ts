/** Truncates a long text for search results, at a space if there is one in the last 30 %. Counts code points. */
export function truncate(text: string, charsMax: number): { text: string; truncated: boolean } {
  // A text never has more code points than units, so most need no counting.
  if (text.length <= charsMax) return { text, truncated: false };
  const characters = Array.from(text.slice(0, 2 * charsMax + 2));
  if (characters.length <= charsMax && 2 * charsMax + 2 >= text.length) return { text, truncated: false };
  const start = characters.slice(0, charsMax);
  const space = start.lastIndexOf(' ');
  const kept = space > charsMax * 0.7 ? start.slice(0, space) : start;
  return { text: `${kept.join('')}...`, truncated: true };
}
