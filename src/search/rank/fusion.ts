import type { MeaningMatch } from '../meaning/nearest-vectors.ts';

/** A match found by words. */
export interface WordMatch {
  id: number;
  /** BM25 as a share of the query's highest possible score: 0 to 1. */
  share: number;
  /** Share of the query's words that the passage has, weighted by rarity: 1 if it has all. Not computed for low ranks. */
  coverage?: number | undefined;
  /** The query's terms in the passage. Only set for displayed matches, because it needs a database read. */
  terms?: readonly TermShare[];
}

export interface TermShare {
  /** As in the query: a stem, a "phrase" or a prefix*. */
  term: string;
  /** What this term contributes to the passage's `share`. */
  share: number;
  /** If the query's word is misspelt and in no passage: the similar words in this passage. */
  near?: readonly string[];
}

/** A passage found by at least one retriever (words or meaning), with the scores of both. */
export interface Candidate {
  id: number;
  words: (WordMatch & Listed) | undefined;
  meaning: (MeaningMatch & Listed) | undefined;
}

interface Listed {
  /** Position in the retriever's list, from 1; undefined if only the other retriever listed the passage. */
  rank: number | undefined;
}

export interface FusionSettings {
  /** The constant of reciprocal rank fusion (RRF): rank r counts 1 / (rrfK + r). */
  rrfK: number;
  /** Cosines this far below the best count as 0. Undefined if unknown for the model; see `spanOf`. */
  span: number | undefined;
  /** True if the query is keywords rather than a question; see `isKeywords`. */
  isKeywords: boolean;
}

export interface FusedMatch {
  id: number;
  /** Position in the fused order, from 1. */
  rank: number;
  /** The sort key: the weighted sum, 0 to 1. */
  score: number;
  explanation: RankExplanation;
}

/** Why a passage has its rank. `rank` is its position in the retriever's list, from 1; absent if that retriever did not list it. */
export interface RankExplanation {
  words?: { rank?: number; share: number; weight: number; terms?: readonly TermShare[] };
  meaning?: {
    rank?: number;
    cosine: number;
    nearness: number;
    weight: number;
    window: MeaningMatch['window'];
  };
  /** The nearness assumed for a passage without vectors: its word share divided by the highest word share. */
  assumedNearness?: number;
  /** The score of reciprocal rank fusion. Only reported, because the weighted sum ranks better. */
  rrf: number;
  /** The higher-ranked passage with the same text; see `copyShare`. */
  copyOf?: number;
}

/** Number of candidates from each retriever. */
export const retrieverCandidates = 100;

/** Weight of the meaning score, 0 to 1; the word score gets the rest. See docs/decisions/0016-ranking-settings.md. */
const meaningWeights = { question: 0.7, keywords: 0.3 } as const;

/** For an unmeasured model, the span is `spanFactor` times the drop in cosine from rank 1 to `spanRank`. */
const spanFactor = 3.6;
const spanRank = 50;

/** Factor on the score of a repeated passage, so that versions of one document do not fill the page. */
const copyShare = 0.5;

/**
 * Merges two rankings by a weighted sum of normalised scores. Meaning counts more for questions, words count more for keyword
 * queries.
 */
export function fuse(candidates: readonly Candidate[], settings: FusionSettings): FusedMatch[] {
  const shares = sortDescending(candidates.map((each) => each.words?.share ?? 0));
  const cosines = sortDescending(candidates.flatMap((each) => (each.meaning ? [each.meaning.cosine] : [])));
  let weight: number = meaningWeights[settings.isKeywords ? 'keywords' : 'question'];
  if (cosines.length === 0) weight = 0;
  else if (!shares[0]) weight = 1;
  const span = settings.span ?? spanOf(cosines);
  const best = cosines[0] ?? 0;

  const fused = candidates.map(({ id, words, meaning }) => {
    const share = words?.share ?? 0;
    // Lets passages without vectors compete: the best match by words counts as the nearest.
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
    return { id, rank: 0, score: sum, explanation };
  });
  fused.sort(byScore);
  demoteCopies(fused);
  fused.sort(byScore);
  fused.forEach((match, index) => {
    match.rank = index + 1;
  });
  return fused;
}

/** Orders by score. The cosine breaks ties, because every nearness beyond the span is 0. */
function byScore(left: FusedMatch, right: FusedMatch): number {
  return right.score - left.score || cosineOf(right) - cosineOf(left) || left.id - right.id;
}

/** Lowers the scores of repeated passages. Passages with equal scores from both retrievers have the same text. */
function demoteCopies(ordered: readonly FusedMatch[]): void {
  const firsts = new Map<string, number>();
  for (const match of ordered) {
    const { words, meaning } = match.explanation;
    if (!words || !meaning) continue;
    const scores = `${words.share} ${meaning.cosine}`;
    const first = firsts.get(scores);
    if (first === undefined) firsts.set(scores, match.id);
    else {
      match.score *= copyShare;
      match.explanation.copyOf = first;
    }
  }
}

function cosineOf({ explanation }: FusedMatch): number {
  return explanation.meaning?.cosine ?? -1;
}

/** Estimates the span of an unmeasured model from the cosines of this query. */
function spanOf(cosines: readonly number[]): number {
  const last = cosines[Math.min(cosines.length, spanRank) - 1] ?? 0;
  return Math.max(spanFactor * ((cosines[0] ?? 0) - last), 1e-6);
}

function reciprocal(rank: number | undefined, k: number): number {
  return rank === undefined ? 0 : 1 / (k + rank);
}

function rankField(rank: number | undefined): { rank?: number } {
  return rank === undefined ? {} : { rank };
}

function sortDescending(values: number[]): number[] {
  return values.sort((left, right) => right - left);
}
