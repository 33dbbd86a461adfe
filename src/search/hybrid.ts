import { type CarrelError, isCarrelError } from '../base/errors.ts';
import { type Candidate, type FusedMatch, type FusionSettings, fuse, legCandidates, type WordMatch } from './fusion.ts';
import type { MeaningMatch } from './meaning/nearest-vectors.ts';

export interface HybridQuery {
  text: string;
  limit: number;
  offset?: number;
  /** Candidates that each leg brings, whichever page is asked for: what paging can reach. 100 unless told. */
  depth?: number;
  /** Tell for each match that is shown which of its terms count how much. */
  explain?: boolean;
  signal?: AbortSignal;
}

export type HybridSettings = Pick<FusionSettings, 'order' | 'rrfK'>;

/** One leg, over the passages that the filter of the call lets through. Both filter before they rank. */
export interface WordLeg {
  /** The best first. Far down a long list the share may be 0: found, but not scored. */
  search(text: string, limit: number, signal?: AbortSignal): Promise<readonly WordMatch[]>;
  /** What the words say about passages that are known, with terms. Passages without any of the terms may be left out. */
  score(text: string, ids: readonly number[], signal?: AbortSignal): Promise<readonly WordMatch[]>;
}

export interface MeaningLeg {
  search(text: string, limit: number, signal?: AbortSignal): Promise<MeaningFound>;
  /** What the meaning says about passages that the other leg found. Passages not yet embedded are left out. */
  score(found: MeaningFound, ids: readonly number[], signal?: AbortSignal): Promise<readonly MeaningMatch[]>;
  /** How much of what lies nearest is program code, from 0 to 1. */
  codeShare(found: MeaningFound, signal?: AbortSignal): Promise<number>;
}

export interface MeaningFound {
  readonly text: string;
  /** Of the text. */
  readonly vector: Float32Array;
  /** The nearest first. */
  readonly matches: readonly MeaningMatch[];
  /** Passages that are not embedded yet. */
  readonly pending: number;
  /** Of the model; see `FusionSettings`. */
  readonly span: number | undefined;
}

/** The legs to ask. With one of them undefined, the other one decides alone. */
export interface HybridDeps {
  words: WordLeg | undefined;
  meaning: MeaningLeg | undefined;
}

export interface HybridResult {
  matches: FusedMatch[];
  /** Candidates that were ranked: what paging can reach. */
  ranked: number;
  /** What each leg listed, in its order. Of the meaning undefined where it was not asked or failed. */
  listed: { words: readonly WordMatch[]; meaning: readonly MeaningMatch[] | undefined };
  /** Passages that could not be found by meaning, because they are not embedded yet. */
  pending: number;
  /** Why the meaning could not be had: the order is that of the words alone. */
  failure?: CarrelError;
}

/**
 * Search by words and by meaning together:
 *
 * 1. Ask both legs for their best; the query is embedded while the words are searched.
 * 2. Where the meaning is not to be had, go on with the words and say so.
 * 3. Complete the picture: what one leg found is scored by the other too, and the nearest passages tell whether it is
 *    code that is being searched.
 * 4. Fuse: normalise, weigh the legs for this query, add up, order; ties by id (fusion.ts).
 * 5. Take the page. The order does not depend on the page, so pages neither overlap nor leave gaps.
 * 6. Explain what is shown, if asked to.
 */
export async function searchHybrid(
  query: HybridQuery,
  settings: HybridSettings,
  deps: HybridDeps,
): Promise<HybridResult> {
  const { text, signal, depth = legCandidates } = query;
  const [byWords = [], byMeaning] = await Promise.all([
    deps.words?.search(text, depth, signal),
    deps.meaning && searchMeaning(deps.meaning, text, depth, signal),
  ]);
  const { found, failure } = byMeaning ?? {};
  const near = found?.matches ?? [];
  const scored = byWords.filter(({ share }) => share > 0);
  const [moreWords = [], moreMeaning = [], codeShare = 0] = await Promise.all([
    deps.words?.score(text, missing([...near, ...byWords], scored), signal),
    found && deps.meaning?.score(found, missing(byWords, near), signal),
    found && deps.meaning?.codeShare(found, signal),
  ]);
  const candidates = joinLegs({ listed: byWords, more: moreWords }, { listed: near, more: moreMeaning });
  const fused = fuse(candidates, { ...settings, span: found?.span, codeShare });
  const offset = query.offset ?? 0;
  const matches = fused.slice(offset, offset + query.limit);
  if (query.explain && deps.words) await addTerms(matches, text, deps.words, signal);
  return {
    matches,
    ranked: fused.length,
    listed: { words: byWords, meaning: found?.matches },
    pending: found?.pending ?? 0,
    ...(failure ? { failure } : {}),
  };
}

async function searchMeaning(
  leg: MeaningLeg,
  text: string,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<{ found?: MeaningFound; failure?: CarrelError }> {
  try {
    return { found: await leg.search(text, limit, signal) };
  } catch (error) {
    // A cancelled call ends; a provider that is away or busy does not take the words with it.
    if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return { failure: error };
    throw error;
  }
}

/** The ids of what was found and is not known, each once. */
function missing(found: readonly { id: number }[], known: readonly { id: number }[]): number[] {
  const ids = new Set(found.map(({ id }) => id));
  for (const { id } of known) ids.delete(id);
  return [...ids];
}

/** What a leg listed, and what it says about passages that it did not list, or listed without a score. */
interface LegMatches<Match> {
  readonly listed: readonly Match[];
  readonly more: readonly Match[];
}

function joinLegs(words: LegMatches<WordMatch>, meaning: LegMatches<MeaningMatch>): Candidate[] {
  const [byWords, byMeaning] = [ranked(words), ranked(meaning)];
  const ids = new Set([...byWords.keys(), ...byMeaning.keys()]);
  return [...ids].map((id) => ({ id, words: byWords.get(id), meaning: byMeaning.get(id) }));
}

function ranked<Match extends { id: number }>({ listed, more }: LegMatches<Match>) {
  const ranks = new Map(listed.map(({ id }, index) => [id, index + 1]));
  return new Map([...listed, ...more].map((match) => [match.id, { ...match, rank: ranks.get(match.id) }]));
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
