import type { MeaningMatch } from './meaning/nearest-vectors.ts';

/** What the search by words says about a passage. */
export interface WordMatch {
  id: number;
  /** BM25 as a share of what a passage with every term of the query, often, would get: 0 to 1. */
  share: number;
  /** The terms of the query that the passage holds. Told for those that are shown, because it costs reading them. */
  terms?: readonly TermShare[];
}

export interface TermShare {
  /** As the query has it: a stem, a "phrase", a beginning*. */
  term: string;
  /** What it adds to the share of its passage. */
  share: number;
}

/** A passage that at least one leg found, with what both say about it. */
export interface Candidate {
  id: number;
  words: (WordMatch & Listed) | undefined;
  meaning: (MeaningMatch & Listed) | undefined;
}

interface Listed {
  /** The passage's place in the list of the leg, from 1; undefined where the leg only scored what the other one found. */
  rank: number | undefined;
}

export interface FusionSettings {
  order: 'weighted' | 'rrf';
  /** Constant of reciprocal rank fusion: a rank r counts 1 / (rrfK + r). */
  rrfK: number;
  /** Cosines this far below the best count nothing. Where it is not known of the model, see `spanOf`. */
  span: number | undefined;
  /** How much of what lies near the query is program code, from 0 to 1. */
  codeShare: number;
}

export interface FusedMatch {
  id: number;
  /** Position in the fused order, from 1. */
  rank: number;
  /** What the order follows: the weighted sum (0 to 1) or the RRF score. */
  score: number;
  explanation: RankExplanation;
}

/** Why a passage stands where it stands. Ranks are those within a leg, from 1; absent where the leg did not list it. */
export interface RankExplanation {
  words?: { rank?: number; share: number; weight: number; terms?: readonly TermShare[] };
  meaning?: {
    rank?: number;
    cosine: number;
    nearness: number;
    weight: number;
    window: MeaningMatch['window'];
  };
  /** In the place of the nearness of a passage that is not embedded yet: its share, as a share of the highest. */
  assumedNearness?: number;
  rrf: number;
  /** The passage further up whose text this one repeats; see `copyShare`. */
  copyOf?: number;
}

/** Candidates that each leg brings. Less than 50 would leave the weights without their measure. */
export const legCandidates = 100;

/** Chosen on the dev splits of four sets; see docs/benchmarks-search.md for what each is worth. */
const meaningWeightBase = 0.3;
const meaningWeightPerFlatness = 0.6;
const meaningWeightForCode = 0.35;
const meaningWeightMin = 0.05;
const meaningWeightMax = 0.95;
const flatnessRank = 50;

/**
 * What a passage counts that repeats one further up. Documents are kept in several versions and quote one another, and a
 * page of results that all say the same hides the others.
 */
const copyShare = 0.5;

/**
 * Brings two rankings together. Ordering by ranks alone (RRF) throws away how sure each leg is and falls below its
 * better leg on most sets that we measure, so the default is a weighted sum of normalised scores.
 *
 * The weight of the meaning depends on the query: when the fiftieth passage matches its words almost as well as the
 * first does, its words tell little apart. And on the passages: the words of a question seldom stand in code.
 */
export function fuse(candidates: readonly Candidate[], settings: FusionSettings): FusedMatch[] {
  const shares = sortedDown(candidates.map((each) => each.words?.share ?? 0));
  const cosines = sortedDown(candidates.flatMap((each) => (each.meaning ? [each.meaning.cosine] : [])));
  const weight = cosines.length === 0 ? 0 : shares[0] ? meaningWeight(shares, settings.codeShare) : 1;
  const span = settings.span ?? spanOf(cosines);
  const best = cosines[0] ?? 0;

  const fused = candidates.map(({ id, words, meaning }) => {
    const share = words?.share ?? 0;
    // What is not embedded yet must not sink for it: the best words stand for the nearest meaning.
    const nearness = meaning ? Math.max(0, 1 - (best - meaning.cosine) / span) : share / (shares[0] || 1);
    const rrf = reciprocal(words?.rank, settings.rrfK) + reciprocal(meaning?.rank, settings.rrfK);
    const sum = (1 - weight) * share + weight * nearness;
    const explanation: RankExplanation = { rrf };
    if (words && (words.share > 0 || words.rank !== undefined)) {
      const { rank, terms } = words;
      explanation.words = { ...rankField(rank), share, weight: 1 - weight, ...(terms ? { terms } : {}) };
    }
    if (meaning) {
      const { rank, cosine, window } = meaning;
      explanation.meaning = { ...rankField(rank), cosine, nearness, weight, window };
    } else if (weight > 0) explanation.assumedNearness = nearness;
    return { id, rank: 0, score: settings.order === 'rrf' ? rrf : sum, explanation };
  });
  fused.sort(byScore);
  if (settings.order === 'weighted') {
    setBackCopies(fused);
    fused.sort(byScore);
  }
  fused.forEach((match, index) => {
    match.rank = index + 1;
  });
  return fused;
}

/** Beyond the span nearness is 0, but not all that is far is equally far. */
function byScore(left: FusedMatch, right: FusedMatch): number {
  return right.score - left.score || cosineOf(right) - cosineOf(left) || left.id - right.id;
}

/** Both legs give two passages the same figures, to the last digit, only where they have the same text. */
function setBackCopies(ordered: readonly FusedMatch[]): void {
  const firsts = new Map<string, number>();
  for (const match of ordered) {
    const { words, meaning } = match.explanation;
    if (!words || !meaning) continue;
    const figures = `${words.share} ${meaning.cosine}`;
    const first = firsts.get(figures);
    if (first === undefined) firsts.set(figures, match.id);
    else {
      match.score *= copyShare;
      match.explanation.copyOf = first;
    }
  }
}

function cosineOf({ explanation }: FusedMatch): number {
  return explanation.meaning?.cosine ?? -1;
}

/** From few matching words with one clear winner (near the base) to many passages that match alike. */
function meaningWeight(sharesDown: readonly number[], codeShare: number): number {
  const flatness = (sharesDown[flatnessRank - 1] ?? 0) / (sharesDown[0] ?? 1);
  const weight = meaningWeightBase + meaningWeightPerFlatness * flatness + meaningWeightForCode * codeShare;
  return Math.min(meaningWeightMax, Math.max(meaningWeightMin, weight));
}

/**
 * Models differ in how far apart they put texts. Where the distance is not known, it is taken from the query: the 50
 * nearest passages of the bundled model lie within 0.07 of the best, and 0.25 is its best span.
 */
function spanOf(cosinesDown: readonly number[]): number {
  const last = cosinesDown[Math.min(cosinesDown.length, flatnessRank) - 1] ?? 0;
  return Math.max(3.6 * ((cosinesDown[0] ?? 0) - last), 1e-6);
}

function reciprocal(rank: number | undefined, k: number): number {
  return rank === undefined ? 0 : 1 / (k + rank);
}

function rankField(rank: number | undefined): { rank?: number } {
  return rank === undefined ? {} : { rank };
}

function sortedDown(values: number[]): number[] {
  return values.sort((left, right) => right - left);
}
