/** Returns the Damerau-Levenshtein distance, or any number above `max` if the distance is larger than that. */
export function editDistance(from: string, to: string, max = Number.POSITIVE_INFINITY): number {
  let [older, last, row]: number[][] = [[], [], []];
  last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    row = [i];
    let least = i;
    for (let j = 1; j <= to.length; j += 1) {
      if (Math.abs(i - j) > max) {
        row[j] = max + 1;
        continue;
      }
      const cost = from[i - 1] === to[j - 1] ? 0 : 1;
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        edits = Math.min(edits, (older?.[j - 2] ?? 0) + 1);
      }
      row[j] = edits;
      if (edits < least) least = edits;
    }
    if (least > max) return max + 1;
    [older, last] = [last, row];
  }
  return last[to.length] ?? 0;
}
