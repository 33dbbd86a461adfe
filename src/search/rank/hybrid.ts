import type { CarrelError } from '../../base/errors.ts';
import { analyse } from '../../words/analyse.ts';
import type { CorrectedWord } from '../../words/ranking/word-index.ts';
import { isKeywords, quotedIn } from '../../words/word-query.ts';
import type { MeaningMatch } from '../meaning/nearest-vectors.ts';
import type { RerankingState } from '../rerank/reranker.ts';
import { type MeaningScores, missing, type SearchCorpus } from './corpus.ts';
import { type Candidate, type FusedMatch, fuse, retrieverCandidates, type WordMatch } from './fusion.ts';
import { type JudgeDeps, type JudgedHit, judgePage, type RankedHit, type RelevanceCutoff } from './judging.ts';

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
  judging: JudgeDeps;
}

export type HybridMatch = FusedMatch & Omit<JudgedHit<unknown>, 'hit'>;

export interface HybridResult {
  matches: HybridMatch[];
  /** Number of matches on all pages. Includes candidates that were not examined, but no omitted ones. */
  ranked: number;
  candidates: number;
  /** Omitted matches that would otherwise be on the page. */
  omitted: number;
  reranking: RerankingState;
  /** Each retriever's list, in its order. `meaning` is undefined if that retriever was not used or failed. */
  listed: { words: readonly WordMatch[]; meaning: readonly MeaningMatch[] | undefined };
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
 * 4. Judge: rerank the best, put newer statements before those they replace, and omit weak hits if requested (judging.ts).
 * 5. Take the page. The order does not depend on the page, so pages neither overlap nor leave gaps.
 */
export async function searchHybrid(query: HybridQuery, deps: HybridDeps): Promise<HybridResult> {
  const { text, limit, offset = 0, depth = retrieverCandidates, cutoff, rrfK = 60, signal } = query;
  const { words: byWords, failure, corrected = [], scoreMissing } = await deps.corpus.find(text, depth, signal);
  const correctedText = withCorrections(text, corrected);
  // Searches again, so that the models do not read misspelt words.
  if (correctedText !== text) return searchHybrid({ ...query, text: correctedText }, deps);

  const { words: scoredWords, meaning: nearest } = await scoreMissing();
  const isExact = scoredWords !== undefined && quotedIn(text).phrases.length > 0;
  const meaning = nearest && isExact ? onlyIds(nearest, new Set(byWords.map(({ id }) => id))) : nearest;
  const near = meaning?.listed ?? [];
  const scored = byWords.filter(({ share }) => share > 0);
  // Without search by meaning, unscored matches keep their order and need no score.
  const unscored = new Set(missing(meaning ? [...near, ...byWords] : [], scored));
  const moreWords = scoredWords?.filter(({ id }) => unscored.has(id)) ?? [];

  const candidates = joinMatches(
    { listed: withTerms(byWords, scoredWords), more: moreWords },
    { listed: near, more: meaning?.more ?? [] },
  );
  const fused = fuse(candidates, { rrfK, span: meaning?.span, isKeywords: isKeywords(text) });

  const coverage = new Map(scoredWords ? [...unscored].map((id) => [id, 0]) : []);
  for (const { id, coverage: share } of [...scored, ...moreWords]) if (share !== undefined) coverage.set(id, share);
  const hits = fused.map((match) => hitOf(match, coverage, meaning?.span !== undefined));
  const judged = await judgePage({ text, limit, offset, cutoff, signal }, hits, deps.judging, unfound);

  return {
    matches: judged.page.map(({ hit, ...verdict }, index) => ({ ...hit.match, ...verdict, rank: offset + index + 1 })),
    ranked: judged.kept + judged.unseen,
    candidates: fused.length,
    omitted: judged.omitted,
    reranking: judged.reranking,
    listed: { words: byWords, meaning: meaning?.listed },
    pending: meaning?.pending ?? 0,
    ...(failure ? { failure } : {}),
  };
}

/** Omits matches with other ids. */
function onlyIds(meaning: MeaningScores, ids: ReadonlySet<number>): MeaningScores {
  const isIn = ({ id }: MeaningMatch) => ids.has(id);
  return { ...meaning, listed: meaning.listed.filter(isIn), more: meaning.more.filter(isIn) };
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

/** Creates the hit for judging. Drops the cosines of unmeasured models, which say nothing about relevance. */
function hitOf(match: FusedMatch, coverage: ReadonlyMap<number, number>, knowsCosines: boolean): FusedHit {
  const { id, score, explanation } = match;
  const { cosine, window } = explanation.meaning ?? {};
  return { id, score, match, coverage: coverage.get(id), window, cosine: knowsCosines ? cosine : undefined };
}

/** Creates a hit for a newer statement that neither retriever found, but that replaces a hit. */
function unfound(id: number, { score }: FusedHit): FusedHit {
  return { id, score, match: { id, rank: 0, score, explanation: { rrf: 0 } } };
}

/** The matches that a retriever listed, and its scores for further passages. */
interface RetrieverMatches<Match> {
  readonly listed: readonly Match[];
  readonly more: readonly Match[];
}

function joinMatches(words: RetrieverMatches<WordMatch>, meaning: RetrieverMatches<MeaningMatch>): Candidate[] {
  const [byWords, byMeaning] = [ranked(words), ranked(meaning)];
  const ids = new Set([...byWords.keys(), ...byMeaning.keys()]);
  return [...ids].map((id) => ({ id, words: byWords.get(id), meaning: byMeaning.get(id) }));
}

function ranked<Match extends { id: number }>({ listed, more }: RetrieverMatches<Match>) {
  const ranks = new Map(listed.map(({ id }, index) => [id, index + 1]));
  return new Map([...listed, ...more].map((match) => [match.id, { ...match, rank: ranks.get(match.id) }]));
}

/** Adds terms to the listed matches. Does not change their shares. */
function withTerms(listed: readonly WordMatch[], scoredWords: readonly WordMatch[] = []): WordMatch[] {
  const terms = new Map(scoredWords.map((match) => [match.id, match.terms]));
  return listed.map((match) => {
    const found = terms.get(match.id);
    return found === undefined ? match : { ...match, terms: found };
  });
}
