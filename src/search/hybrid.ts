import { isCarrelError } from '../base/errors.ts';
import {
  type Candidate,
  type FusedMatch,
  type FusionSettings,
  fuse,
  legCandidates,
  type MeaningMatch,
  type WordMatch,
} from './fusion.ts';

export interface HybridQuery {
  text: string;
  limit: number;
  offset?: number;
  signal?: AbortSignal;
}

/** One leg, over the passages that the filter of the call lets through. Both filter before they rank. */
export interface WordLeg {
  search(text: string, limit: number, signal?: AbortSignal): Promise<readonly WordMatch[]>;
  /** What the words say about passages that are known, with terms. Passages without any of the terms may be left out. */
  score(text: string, ids: readonly number[], signal?: AbortSignal): Promise<readonly WordMatch[]>;
}

export interface MeaningLeg {
  search(text: string, limit: number, signal?: AbortSignal): Promise<MeaningFound>;
  /** What the meaning says about passages that the other leg found. Passages not yet embedded are left out. */
  score(found: MeaningFound, ids: readonly number[], signal?: AbortSignal): Promise<readonly MeaningMatch[]>;
}

export interface MeaningFound {
  readonly text: string;
  /** Of the text. */
  readonly vector: Float32Array;
  readonly matches: readonly MeaningMatch[];
  /** Passages that are not embedded yet. */
  readonly pending: number;
}

export interface HybridDeps {
  words: WordLeg;
  meaning: MeaningLeg;
}

export interface HybridResult {
  matches: FusedMatch[];
  /** Candidates that were ranked: what paging can reach. */
  ranked: number;
  /** Passages that could not be found by meaning, because they are not embedded yet. */
  pending: number;
  /** Set when the meaning could not be had and the order is that of the words alone. */
  degraded?: 'meaning_unavailable';
}

/**
 * Search by words and by meaning together:
 *
 * 1. Ask both legs for their best 100; the query is embedded while the words are searched.
 * 2. Where the meaning is not to be had, go on with the words and say so.
 * 3. Complete the picture: what one leg found is scored by the other too.
 * 4. Fuse: normalise, weigh the legs for this query, add up, order; ties by id (fusion.ts).
 * 5. Cut out the page. The order does not depend on the page, so pages neither overlap nor leave gaps.
 * 6. Explain what is shown: which of its terms count how much.
 */
export async function searchHybrid(
  query: HybridQuery,
  settings: FusionSettings,
  deps: HybridDeps,
): Promise<HybridResult> {
  const { text, signal } = query;
  const [byWords, meaning] = await Promise.all([
    deps.words.search(text, legCandidates, signal),
    searchMeaning(deps.meaning, text, signal),
  ]);
  const [moreWords, moreMeaning] = await Promise.all([
    deps.words.score(text, missing(meaning?.matches ?? [], byWords), signal),
    meaning ? deps.meaning.score(meaning, missing(byWords, meaning.matches), signal) : [],
  ]);
  const candidates = joinLegs([...byWords, ...moreWords], [...(meaning?.matches ?? []), ...moreMeaning]);
  const fused = fuse(candidates, settings);
  const offset = query.offset ?? 0;
  const matches = fused.slice(offset, offset + query.limit);
  await addTerms(matches, text, deps.words, signal);
  return {
    matches,
    ranked: fused.length,
    pending: meaning?.pending ?? 0,
    ...(meaning ? {} : { degraded: 'meaning_unavailable' as const }),
  };
}

async function addTerms(
  shown: readonly FusedMatch[],
  text: string,
  words: WordLeg,
  signal: AbortSignal | undefined,
): Promise<void> {
  const untold = shown.filter(({ explanation }) => explanation.words && !explanation.words.terms);
  if (untold.length === 0) return;
  const ids = untold.map(({ id }) => id);
  const told = new Map((await words.score(text, ids, signal)).map(({ id, terms }) => [id, terms]));
  for (const { id, explanation } of untold) {
    const terms = told.get(id);
    if (explanation.words && terms) explanation.words.terms = terms;
  }
}

async function searchMeaning(leg: MeaningLeg, text: string, signal: AbortSignal | undefined) {
  try {
    return await leg.search(text, legCandidates, signal);
  } catch (error) {
    // A cancelled call ends; a provider that is away or busy does not take the words with it.
    if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return undefined;
    throw error;
  }
}

function missing(found: readonly { id: number }[], known: readonly { id: number }[]): number[] {
  const ids = new Set(known.map(({ id }) => id));
  return found.map(({ id }) => id).filter((id) => !ids.has(id));
}

function joinLegs(words: readonly WordMatch[], meaning: readonly MeaningMatch[]): Candidate[] {
  const candidates = new Map<number, Candidate>();
  for (const match of words) candidates.set(match.id, { id: match.id, words: match, meaning: undefined });
  for (const match of meaning) {
    candidates.set(match.id, { id: match.id, words: candidates.get(match.id)?.words, meaning: match });
  }
  return [...candidates.values()];
}
