/** As a search shows a long text: cut at a space where one lies in the last 30 % of the room. Counted in code points. */
export function truncate(text: string, charsMax: number): { text: string; truncated: boolean } {
  // No text has more characters than units, so most need no counting.
  if (text.length <= charsMax) return { text, truncated: false };
  const characters = Array.from(text.slice(0, 2 * charsMax + 2));
  if (characters.length <= charsMax && 2 * charsMax + 2 >= text.length) return { text, truncated: false };
  const beginning = characters.slice(0, charsMax);
  const space = beginning.lastIndexOf(' ');
  const kept = space > charsMax * 0.7 ? beginning.slice(0, space) : beginning;
  return { text: `${kept.join('')}...`, truncated: true };
}
