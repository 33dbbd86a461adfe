import { type CarrelError, isCarrelError } from '../base/errors.ts';
import { type Candidate, type FusedMatch, type FusionSettings, fuse, legCandidates, type WordMatch } from './fusion.ts';
import { type Cut, type JudgeDeps, type JudgedPage, judgePage, type RankedHit } from './judging.ts';
import type { MeaningMatch } from './meaning/nearest-vectors.ts';
import { newerFirst, type TextsOf } from './newer-first.ts';
import type { Evidence } from './relevance.ts';
import type { RerankingState } from './reranking/reranker.ts';
import type { WordLeg } from './word-leg.ts';

export interface HybridQuery {
  text: string;
  limit: number;
  offset?: number;
  /** How many candidates to take from each leg, whichever page is asked for; 100 by default. Bounds what paging can reach. */
  depth?: number;
  /** Adds to each match on the page how much each of its terms counts. */
  explain?: boolean;
  /** What to leave out; nothing by default. */
  cut?: Cut | undefined;
  signal?: AbortSignal;
}

export type HybridSettings = Pick<FusionSettings, 'order' | 'rrfK'>;

export interface MeaningLeg {
  search(text: string, limit: number, signal?: AbortSignal): Promise<MeaningFound>;
  /** Scores passages that the other leg found. Passages that are not embedded yet are left out. */
  score(found: MeaningFound, ids: readonly number[], signal?: AbortSignal): Promise<readonly MeaningMatch[]>;
  /** How much of the nearest matches is program code, from 0 to 1. */
  codeShare(found: MeaningFound, signal?: AbortSignal): Promise<number>;
}

export interface MeaningFound {
  readonly text: string;
  /** The embedding of the text. */
  readonly vector: Float32Array;
  /** The nearest first. */
  readonly matches: readonly MeaningMatch[];
  /** Passages that are not embedded yet. */
  readonly pending: number;
  /** Of the model; see `FusionSettings`. */
  readonly span: number | undefined;
}

/** If one leg is undefined, the other one decides alone. */
export interface HybridDeps {
  words: WordLeg | undefined;
  meaning: MeaningLeg | undefined;
  /** If set, of passages that say nearly the same the newer one comes first. Not where the order is that of RRF. */
  newerFirst?: TextsOf | undefined;
  /** Undefined: matches have no relevance, and their order is that of the fusion. */
  judging?: JudgeDeps | undefined;
}

export interface HybridMatch extends FusedMatch {
  /** 0 to 1; undefined without judging. */
  relevance?: number;
  /** What it was judged by. */
  evidence?: Evidence;
  /** The part of its text that the reranking model read, if it read any. */
  range?: readonly [start: number, end: number] | undefined;
}

export interface HybridResult {
  matches: HybridMatch[];
  /** Candidates that were ranked and not left out: what paging can reach. Those not looked at yet count, too. */
  ranked: number;
  /** All candidates, left out or not. */
  candidates: number;
  /** Matches that would be on the page if nothing were left out. */
  omitted: number;
  /** Undefined without judging. */
  reranking?: RerankingState;
  /** What each leg listed, in its order. `meaning` is undefined if that leg was not asked or failed. */
  listed: { words: readonly WordMatch[]; meaning: readonly MeaningMatch[] | undefined };
  /** Passages that could not be found by meaning, because they are not embedded yet. */
  pending: number;
  /** Why search by meaning failed. The order is then that of the words alone. */
  failure?: CarrelError;
}

/**
 * Search by words and by meaning together:
 *
 * 1. Ask both legs for their best; the query is embedded while the words are searched.
 * 2. If search by meaning is unavailable, continue with the words alone and say so.
 * 3. Complete the scores: what one leg found is scored by the other too, and the nearest passages tell whether this is a
 *    search for code.
 * 4. Fuse: normalise the scores, weight the legs for this query, add up and sort (fusion.ts), and put newer statements
 *    before older ones, if asked to (newer-first.ts).
 * 5. Rerank the best, judge how relevant each is, and leave out what is weak, if asked to (judging.ts).
 * 6. Take the page. The order does not depend on the page, so pages neither overlap nor leave gaps.
 * 7. Explain what is shown, if asked to.
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
  // What stands far down the list of words alone stays in its order.
  const unweighed = missing(found ? [...near, ...byWords] : [], scored);
  const [moreWords = [], moreMeaning = [], codeShare = 0] = await Promise.all([
    deps.words?.score(text, unweighed, signal),
    found && deps.meaning?.score(found, missing(byWords, near), signal),
    found && deps.meaning?.codeShare(found, signal),
  ]);
  const candidates = joinLegs({ listed: byWords, more: moreWords }, { listed: near, more: moreMeaning });
  const byScore = fuse(candidates, { ...settings, span: found?.span, codeShare });
  const textsOf = settings.order === 'weighted' ? deps.newerFirst : undefined;
  const fused = textsOf ? await newerFirst(byScore, textsOf, signal) : byScore;
  const coverage = new Map(deps.words ? unweighed.map((id) => [id, 0]) : []);
  for (const { id, coverage: told } of [...scored, ...moreWords]) if (told !== undefined) coverage.set(id, told);
  const hits = fused.map((match) => hitOf(match, coverage, found?.span !== undefined));
  const judged = await judgedPage({ ...query, offset: query.offset ?? 0 }, hits, deps.judging);
  const matches = judged.page.map(({ hit, ...verdict }, index) => ({
    ...hit.match,
    ...verdict,
    rank: (query.offset ?? 0) + index + 1,
  }));
  if (query.explain && deps.words) await addTerms(matches, text, deps.words, signal);
  return {
    matches,
    ranked: judged.kept + judged.unseen,
    candidates: fused.length,
    omitted: judged.omitted,
    ...(deps.judging ? { reranking: judged.reranking } : {}),
    listed: { words: byWords, meaning: found?.matches },
    pending: found?.pending ?? 0,
    ...(failure ? { failure } : {}),
  };
}

interface FusedHit extends RankedHit {
  readonly match: FusedMatch;
}

/** Cosines of models that nobody has measured tell nothing about relevance. */
function hitOf(match: FusedMatch, coverage: ReadonlyMap<number, number>, knowsCosines: boolean): FusedHit {
  const { id, score, explanation } = match;
  const { cosine, window } = explanation.meaning ?? {};
  return { id, score, match, coverage: coverage.get(id), window, cosine: knowsCosines ? cosine : undefined };
}

type Page = Omit<JudgedPage<FusedHit>, 'page'> & {
  page: readonly ({ hit: FusedHit } & Pick<HybridMatch, 'relevance' | 'evidence' | 'range'>)[];
};

async function judgedPage(
  query: HybridQuery & { offset: number },
  hits: readonly FusedHit[],
  judging: JudgeDeps | undefined,
): Promise<Page> {
  const { text, limit, offset, cut, signal } = query;
  if (judging) {
    return judgePage({ text, limit, offset, cut, signal }, hits, judging);
  }
  const page = hits.slice(offset, offset + limit).map((hit) => ({ hit }));
  return { page, kept: hits.length, unseen: 0, omitted: 0, reranking: { state: 'off' } };
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
    // A cancelled call must end, but a provider that is down or busy must not fail the search by words.
    if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return { failure: error };
    throw error;
  }
}

/** The ids that were found and are not known yet, each once. */
function missing(found: readonly { id: number }[], known: readonly { id: number }[]): number[] {
  const ids = new Set(found.map(({ id }) => id));
  for (const { id } of known) ids.delete(id);
  return [...ids];
}

/** What a leg listed, and its scores for passages that it did not list or listed without a score. */
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
