import type { CarrelError } from '../../base/errors.ts';
import { analyse } from '../../words/analyse.ts';
import type { CorrectedWord } from '../../words/ranking/word-index.ts';
import { isKeywords, quotedIn } from '../../words/word-query.ts';
import type { MeaningMatch } from '../meaning/nearest-vectors.ts';
import type { RerankingState } from '../rerank/reranker.ts';
import { idsMissingFrom, type MeaningScores, type SearchCorpus } from './corpus.ts';
import { type Candidate, type FusedMatch, fuse, retrieverCandidates, type WordMatch } from './fusion.ts';
import { type RankedHit, type RelevanceCutoff, type RerankDeps, type RerankedHit, rerankPage } from './rerank-page.ts';

export interface HybridQuery {
  text: string;
  limit: number;
  offset?: number;
  /** Candidates per retriever, the same for every page; 100 by default. Limits how far paging reaches. */
  depth?: number;
  /** Which hits to omit; none by default. */
  cutoff?: RelevanceCutoff | undefined;
  /** The constant of reciprocal rank fusion, which is only reported. */
  rrfK?: number;
  signal?: AbortSignal;
}

export interface HybridDeps {
  corpus: SearchCorpus;
  rerankDeps: RerankDeps;
}

export type HybridMatch = FusedMatch & Omit<RerankedHit<unknown>, 'hit'>;

export interface HybridResult {
  matches: HybridMatch[];
  /** Number of matches on all pages. Includes candidates that were not examined, but no omitted ones. */
  ranked: number;
  candidates: number;
  /** Omitted matches that would otherwise be on the page. */
  omitted: number;
  reranking: RerankingState;
  /** Each retriever's matches, best first. `meaning` is undefined if that retriever was not used or failed. */
  retrieved: { words: readonly WordMatch[]; meaning: readonly MeaningMatch[] | undefined };
  pending: number;
  /** Why search by meaning failed. The order is then by words alone. */
  failure?: CarrelError;
}

/**
 * Searches by words and by meaning (the two retrievers), and merges the results:
 * 1. Find the best matches of both retrievers. If search by meaning is unavailable, the words alone decide. If a word is misspelt,
 * start again with the likeliest correction.
 * 2. Score the missing: each retriever scores the passages that only the other found.
 * 3. Fuse: normalise, weight, add up and sort (fusion.ts).
 * 4. Rerank the best, put newer statements before those they replace, and omit weak hits if requested (rerank-page.ts).
 * 5. Take the page. The order does not depend on the page, so pages neither overlap nor leave gaps.
 */
export async function searchHybrid(query: HybridQuery, deps: HybridDeps): Promise<HybridResult> {
  const { text, limit, offset = 0, depth = retrieverCandidates, cutoff, rrfK = 60, signal } = query;
  const { words: byWords, failure, corrected = [], scoreMissing } = await deps.corpus.find(text, depth, signal);
  const correctedText = withCorrections(text, corrected);
  // Searches again, so that the models do not read misspelt words.
  if (correctedText !== text) return searchHybrid({ ...query, text: correctedText }, deps);

  const { words: scoredWords, meaning: unfiltered } = await scoreMissing();
  const isExact = scoredWords !== undefined && quotedIn(text).phrases.length > 0;
  const meaning = unfiltered && isExact ? onlyIds(unfiltered, new Set(byWords.map(({ id }) => id))) : unfiltered;
  const nearest = meaning?.nearest ?? [];
  const scored = byWords.filter(({ share }) => share > 0);
  // Without search by meaning, unscored matches keep their order and need no score.
  const unscored = new Set(idsMissingFrom(scored, meaning ? [...nearest, ...byWords] : []));
  const moreWords = scoredWords?.filter(({ id }) => unscored.has(id)) ?? [];

  const candidates = joinMatches(
    { ranked: withTerms(byWords, scoredWords), unranked: moreWords },
    { ranked: nearest, unranked: meaning?.wordOnly ?? [] },
  );
  const fused = fuse(candidates, { rrfK, span: meaning?.span, isKeywords: isKeywords(text) });

  const coverage = new Map(scoredWords ? [...unscored].map((id) => [id, 0]) : []);
  for (const { id, coverage: share } of [...scored, ...moreWords]) if (share !== undefined) coverage.set(id, share);
  const hits = fused.map((match) => hitOf(match, coverage, meaning?.span !== undefined));
  const reranked = await rerankPage({ text, limit, offset, cutoff, signal }, hits, deps.rerankDeps, createNewerHit);

  return {
    matches: reranked.page.map(({ hit, ...rating }, index) => ({ ...hit.match, ...rating, rank: offset + index + 1 })),
    ranked: reranked.included + reranked.unexamined,
    candidates: fused.length,
    omitted: reranked.omitted,
    reranking: reranked.reranking,
    retrieved: { words: byWords, meaning: meaning?.nearest },
    pending: meaning?.pending ?? 0,
    ...(failure ? { failure } : {}),
  };
}

/** Omits matches with other ids. */
function onlyIds(meaning: MeaningScores, ids: ReadonlySet<number>): MeaningScores {
  const isIn = ({ id }: MeaningMatch) => ids.has(id);
  return { ...meaning, nearest: meaning.nearest.filter(isIn), wordOnly: meaning.wordOnly.filter(isIn) };
}

/** Replaces misspelt words in the text. */
function withCorrections(text: string, corrected: readonly CorrectedWord[]): string {
  const corrections = new Map(corrected.map(({ word, terms: [likeliest = word] }) => [word, likeliest]));
  if (corrections.size === 0) return text;
  let [result, copiedTo] = ['', 0];
  analyse(text, (term, start, end, isExtra) => {
    const word = isExtra ? undefined : corrections.get(term);
    if (word === undefined || start < copiedTo) return;
    result += text.slice(copiedTo, start) + word;
    copiedTo = end;
  });
  return result + text.slice(copiedTo);
}

interface FusedHit extends RankedHit {
  readonly match: FusedMatch;
}

/** Creates the hit to rerank. Drops the cosines of unmeasured models, which say nothing about relevance. */
function hitOf(match: FusedMatch, coverage: ReadonlyMap<number, number>, hasMeasuredCosines: boolean): FusedHit {
  const { id, score, explanation } = match;
  const { cosine, window } = explanation.meaning ?? {};
  return { id, score, match, coverage: coverage.get(id), window, cosine: hasMeasuredCosines ? cosine : undefined };
}

/** Creates a hit for a newer statement that neither retriever found, but that replaces a hit. */
function createNewerHit(id: number, { score }: FusedHit): FusedHit {
  return { id, score, match: { id, rank: 0, score, explanation: { rrf: 0 } } };
}

/** A retriever's matches, best first, and the further passages that it scored. */
interface RetrieverMatches<Match> {
  readonly ranked: readonly Match[];
  readonly unranked: readonly Match[];
}

function joinMatches(words: RetrieverMatches<WordMatch>, meaning: RetrieverMatches<MeaningMatch>): Candidate[] {
  const [byWords, byMeaning] = [matchesById(words), matchesById(meaning)];
  const ids = new Set([...byWords.keys(), ...byMeaning.keys()]);
  return [...ids].map((id) => ({ id, words: byWords.get(id), meaning: byMeaning.get(id) }));
}

function matchesById<Match extends { id: number }>({ ranked, unranked }: RetrieverMatches<Match>) {
  const ranks = new Map(ranked.map(({ id }, index) => [id, index + 1]));
  return new Map([...ranked, ...unranked].map((match) => [match.id, { ...match, rank: ranks.get(match.id) }]));
}

/** Adds the terms of scored matches. Does not change the shares. */
function withTerms(matches: readonly WordMatch[], scoredWords: readonly WordMatch[] = []): WordMatch[] {
  const terms = new Map(scoredWords.map((match) => [match.id, match.terms]));
  return matches.map((match) => {
    const found = terms.get(match.id);
    return found === undefined ? match : { ...match, terms: found };
  });
}
