import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CitablePassage } from '../../tools/citable-texts.ts';
import { unitsPerTurn, wordsOf } from './find-quote.ts';

export interface NearestSentence {
  /** Of the passages given. */
  passage: number;
  text: string;
  /** How many of the quotation's different words it has. */
  shared: number;
  of: number;
}

/** With fewer of the words it would be about something else. */
const shareMin = 0.5;
const sentenceCharsMax = 400;

/** The sentence that has most of a quotation's words: what the text says now, where the quotation does not stand any more. */
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
      if (read > unitsPerTurn) {
        await nextTurn(undefined, { signal });
        read = 0;
      }
      // By the words of the sentence, of which there are few, not by those of the quotation.
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
