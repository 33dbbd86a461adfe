export interface Score {
  precision: number;
  recall: number;
  f1: number;
}

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/**
 * Measures how well `actual` matches the words of `expected` and their frequencies, ignoring order and case. The segmenter also
 * finds the words of Chinese, Japanese and Thai.
 */
export function scoreWords(actual: string, expected: string): Score {
  const expectedWords = countWords(expected);
  const actualWords = countWords(actual);
  let common = 0;
  for (const [word, count] of expectedWords) common += Math.min(count, actualWords.get(word) ?? 0);
  const precision = common / Math.max(1, total(actualWords));
  const recall = common / Math.max(1, total(expectedWords));
  return { precision, recall, f1: common === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
}

function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of text.split('\n')) {
    // A list marker is layout: some tools print it and some do not.
    for (const { segment, isWordLike } of segmenter.segment(line.replace(/^\s*(?:[-*•]|\d+\.)\s+/, ''))) {
      if (isWordLike) counts.set(segment.toLowerCase(), (counts.get(segment.toLowerCase()) ?? 0) + 1);
    }
  }
  return counts;
}

function total(counts: Map<string, number>): number {
  let sum = 0;
  for (const count of counts.values()) sum += count;
  return sum;
}
