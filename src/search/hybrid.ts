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
  /** What the words say about passages that the other leg found. Passages without any of the terms may be left out. */
  score(text: string, ids: readonly number[], signal?: AbortSignal): Promise<readonly WordMatch[]>;
}

export interface MeaningLeg {
  embed(text: string, signal?: AbortSignal): Promise<Float32Array>;
  search(query: Float32Array, limit: number, signal?: AbortSignal): Promise<readonly MeaningMatch[]>;
  /** What the meaning says about passages that the other leg found. Passages not yet embedded are left out. */
  score(query: Float32Array, ids: readonly number[], signal?: AbortSignal): Promise<readonly MeaningMatch[]>;
}

export interface HybridDeps {
  words: WordLeg;
  meaning: MeaningLeg;
}

export interface HybridResult {
  matches: FusedMatch[];
  /** Candidates that were ranked: what paging can reach. */
  ranked: number;
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
    meaning ? deps.meaning.score(meaning.vector, missing(byWords, meaning.matches), signal) : [],
  ]);
  const candidates = joinLegs([...byWords, ...moreWords], [...(meaning?.matches ?? []), ...moreMeaning]);
  const fused = fuse(candidates, settings);
  const offset = query.offset ?? 0;
  return {
    matches: fused.slice(offset, offset + query.limit),
    ranked: fused.length,
    ...(meaning ? {} : { degraded: 'meaning_unavailable' as const }),
  };
}

async function searchMeaning(leg: MeaningLeg, text: string, signal: AbortSignal | undefined) {
  try {
    const vector = await leg.embed(text, signal);
    return { vector, matches: await leg.search(vector, legCandidates, signal) };
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
