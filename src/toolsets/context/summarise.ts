import { sentencesOf } from '../../search/sentences.ts';
import { estimateTokens } from '../../tools/token-estimate.ts';
import { analyse, stemOf } from '../../words/analyse.ts';
import { questionWords } from '../../words/question-words.ts';

export interface SummaryLimits {
  readonly tokensMax: number;
}

/** A longer text is judged by its beginning: sentences beyond are rarely what it is about, and cost time. */
const unitsRead = 40_000;
const sentencesKept = 5;
/** Of a sentence that is shorter or longer, little can be told, or too much. */
const sentenceUnitsMin = 20;
const sentenceUnitsMax = 600;

/**
 * The best sentences of a text, in its own order and its own words: no model, and always the same for the same text.
 * A sentence is worth the mean weight of its words, which is how often they occur in the text (SumBasic, Nenkova and
 * Vanderwende 2005); words of a sentence that was taken count less afterwards, so that the next one says something else.
 * Undefined when the text has no sentences that could stand alone.
 */
export function summarise(text: string, { tokensMax }: SummaryLimits): string | undefined {
  const read = text.slice(0, unitsRead).toWellFormed();
  const sentences = sentencesOf(read, { start: 0, end: read.length })
    .map(({ start, end }) => ({ start, text: read.slice(start, end).replace(/\s+/g, ' ') }))
    .filter((sentence) => sentence.text.length >= sentenceUnitsMin && sentence.text.length <= sentenceUnitsMax)
    .map((sentence) => ({ ...sentence, words: wordsOf(sentence.text) }))
    .filter(({ words }) => words.length >= 3);
  const weights = new Map<string, number>();
  for (const { words } of sentences) for (const word of words) weights.set(word, (weights.get(word) ?? 0) + 1);
  const taken: typeof sentences = [];
  // A sentence that is said twice is worth more, but is shown once.
  const left = new Set(new Map(sentences.toReversed().map((sentence) => [sentence.text, sentence])).values());
  let tokens = 0;
  while (taken.length < sentencesKept && left.size > 0) {
    const best = [...left].reduce((first, next) => (worth(next, weights) > worth(first, weights) ? next : first));
    left.delete(best);
    tokens += estimateTokens(best.text);
    if (tokens > tokensMax) break;
    taken.push(best);
    for (const word of best.words) weights.set(word, (weights.get(word) ?? 0) / 4);
  }
  if (taken.length === 0) return undefined;
  return taken
    .sort((first, second) => first.start - second.start)
    .map((sentence) => sentence.text)
    .join(' ');
}

/** The first sentence of a text usually says what follows. */
function worth({ words, start }: { words: readonly string[]; start: number }, weights: ReadonlyMap<string, number>) {
  const mean = words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) / words.length;
  return start === 0 ? mean * 1.5 : mean;
}

function wordsOf(sentence: string): string[] {
  const words = new Set<string>();
  analyse(sentence, (term, _start, _end, extra) => {
    if (!extra && term.length > 2 && !questionWords.has(term)) words.add(stemOf(term));
  });
  return [...words];
}
