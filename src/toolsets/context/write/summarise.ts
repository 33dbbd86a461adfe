import { estimateTokens } from '../../../answers/token-estimate.ts';
import type { Secret } from '../../../base/secret.ts';
import { sentencesOf } from '../../../search/chunking/sentences.ts';
import { createModelSummaries } from '../../../search/models/model-summaries.ts';
import type { SummaryProvider } from '../../../search/models/summary-provider.ts';
import { analyse } from '../../../words/analyse.ts';
import { stemOf } from '../../../words/language.ts';
import { questionWords } from '../../../words/question-words.ts';
import type { ContextConfig } from '../context-slice.ts';

/** The configured model servers, for embeddings and summaries. */
export interface ModelServers {
  readonly ollamaHost: string;
  readonly openaiBase: string;
  readonly openaiKey: Secret | undefined;
}

const defaultModels = { ollama: 'qwen3:0.6b', openai: 'gpt-4o-mini' };

/** Creates the configured summary provider. Returns undefined if summaries are disabled. */
export function summaryProviderOf(config: ContextConfig, servers: ModelServers): SummaryProvider | undefined {
  if (config.summaries === 'false') return undefined;
  const { summaryProvider: provider } = config;
  if (provider === 'extractive') return extractiveSummaries(config);
  return createModelSummaries({
    provider,
    model: config.summaryModel ?? defaultModels[provider],
    base: provider === 'ollama' ? servers.ollamaHost : servers.openaiBase,
    key: provider === 'ollama' ? undefined : servers.openaiKey?.reveal(),
    tokensMax: config.summaryMaxTokens,
    timeoutMs: config.summaryTimeoutSeconds * 1000,
    attemptsMax: config.summaryAttempts,
    backOffMs: config.summaryBackOffSeconds * 1000,
    concurrencyMax: config.summaryConcurrency,
    prompt: config.summaryPrompt,
    contextTokens: config.summaryContextTokens,
    truncatesLongTexts: config.summaryCutsLongTexts,
    reasoningEffort: config.summaryReasoningEffort,
  });
}

/**
 * Creates the provider that takes a text's best sentences. It needs no model and takes a few milliseconds per text.
 */
export function extractiveSummaries({ summaryMaxTokens: tokensMax }: { summaryMaxTokens: number }): SummaryProvider {
  return {
    name: 'extractive',
    model: undefined,
    isLocal: true,
    concurrencyMax: 1,
    summarise: async (text) => summarise(text, { tokensMax }),
  };
}

interface SummaryLimits {
  readonly tokensMax: number;
}

/** Max UTF-16 units read from the beginning of a text. Later sentences rarely state the main point. */
const unitsMax = 40_000;
const sentencesMax = 5;
const singleWeight = 0.05;
/** Min and max length of a usable sentence, in UTF-16 units. Shorter ones say too little, longer ones too much. */
const sentenceUnitsMin = 20;
const sentenceUnitsMax = 600;

interface Sentence {
  readonly start: number;
  readonly text: string;
  readonly words: readonly string[];
}

/**
 * Returns the best sentences of a text, in their original order. The result is deterministic and needs no model.
 * Sentences are scored by word frequency, after SumBasic (Nenkova and Vanderwende 2005). Once a sentence is chosen,
 * its words count less, for variety. Returns undefined if the text has no usable sentences.
 */
export function summarise(text: string, { tokensMax }: SummaryLimits): string | undefined {
  // A line break ends a sentence, unless the next line starts in lower case: such a text is hard-wrapped.
  const beginning = text
    .slice(0, unitsMax)
    .toWellFormed()
    .replace(/\n(?=\p{Ll})/gu, ' ');
  const sentences = sentencesOf(beginning, { start: 0, end: beginning.length })
    .map(({ start, end }) => ({ start, text: beginning.slice(start, end).replace(/\s+/g, ' ') }))
    .filter((sentence) => sentence.text.length >= sentenceUnitsMin && sentence.text.length <= sentenceUnitsMax)
    .map((sentence) => ({ ...sentence, words: wordsOf(sentence.text) }))
    .filter(({ words }) => words.length >= 3);
  const weights = new Map<string, number>();
  for (const { words } of sentences) for (const word of words) weights.set(word, (weights.get(word) ?? 0) + 1);
  // Words that occur once say little about the topic.
  for (const [word, count] of weights) if (count === 1) weights.set(word, singleWeight);
  const chosen: Sentence[] = [];
  // A repeated sentence scores higher, but can be chosen only once.
  const candidates = new Set(new Map(sentences.toReversed().map((sentence) => [sentence.text, sentence])).values());
  let tokens = 0;
  while (chosen.length < sentencesMax && candidates.size > 0) {
    const best = [...candidates].reduce((first, next) => (isBetter(next, first, weights) ? next : first));
    candidates.delete(best);
    tokens += estimateTokens(best.text);
    if (tokens > tokensMax) break;
    chosen.push(best);
    for (const word of best.words) weights.set(word, (weights.get(word) ?? 0) / 2);
  }
  if (chosen.length === 0) return undefined;
  return chosen
    .sort((first, second) => first.start - second.start)
    .map((sentence) => sentence.text)
    .join(' ');
}

/** Compares two sentences. With equal scores, the earlier one is better, because candidates are not in text order. */
function isBetter(next: Sentence, first: Sentence, weights: ReadonlyMap<string, number>): boolean {
  const difference = scoreOf(next, weights) - scoreOf(first, weights);
  return difference > 0 || (difference === 0 && next.start < first.start);
}

/** Returns the score of a sentence. The first one gets a bonus, because it usually states the topic. */
function scoreOf({ words, start }: Sentence, weights: ReadonlyMap<string, number>): number {
  const sum = words.reduce((total, word) => total + (weights.get(word) ?? 0), 0);
  const value = sum / Math.sqrt(words.length);
  return start === 0 ? value * 1.5 : value;
}

function wordsOf(sentence: string): string[] {
  const words = new Set<string>();
  analyse(sentence, (term, _start, _end, extra) => {
    if (!extra && term.length > 2 && !questionWords.has(term)) words.add(stemOf(term));
  });
  return [...words];
}
