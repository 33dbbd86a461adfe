import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CitablePassage } from '../../tools/citable-texts.ts';
import { sliceUnits, wordsOf } from './find-quote.ts';

export interface NearestSentence {
  /** Index of the passage. */
  passage: number;
  text: string;
  /** Number of the quotation's distinct words that the sentence has. The quotation has `of` distinct words. */
  shared: number;
  of: number;
}

/** Min share of the quotation's words; a sentence with fewer is probably about something else. */
const shareMin = 0.5;
const sentenceCharsMax = 400;

/** Finds the sentence that shares the most words with a quotation that is not in the text. */
export async function findNearestSentence(
  quote: string,
  passages: readonly CitablePassage[],
  signal: AbortSignal,
): Promise<NearestSentence | undefined> {
  const wanted = new Set(wordsOf(quote));
  let nearest: NearestSentence | undefined;
  let read = 0;
  for (const [passage, { text }] of passages.entries()) {
    for (const sentence of sentencesOf(text)) {
      read += sentence.length;
      if (read > sliceUnits) {
        await nextTurn(undefined, { signal });
        read = 0;
      }
      // Checks the words of the sentence, because a quotation may have many more.
      const shared = new Set(wordsOf(sentence).filter((word) => wanted.has(word))).size;
      if (shared > (nearest?.shared ?? 0)) nearest = { passage, text: sentence, shared, of: wanted.size };
    }
  }
  return nearest !== undefined && nearest.shared >= wanted.size * shareMin ? nearest : undefined;
}

function* sentencesOf(text: string): Iterable<string> {
  for (const [sentence] of text.matchAll(/[^.!?。！？\n]+[.!?。！？]*/gu)) {
    const trimmed = sentence.trim();
    for (let start = 0; start < trimmed.length; start += sentenceCharsMax) {
      yield trimmed.slice(start, start + sentenceCharsMax);
    }
  }
}
