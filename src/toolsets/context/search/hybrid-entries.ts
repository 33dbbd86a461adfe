import { isCarrelError } from '../../../base/errors.ts';
import { type Candidate, fuse } from '../../../search/fusion.ts';
import type { MeaningMatch } from '../../../search/meaning/meaning.ts';
import type { EntryFilter } from '../../../storage/stores/entries/entry-filter.ts';
import { plainQuery } from '../../../words/word-query.ts';
import type { ContextParts } from '../context-parts.ts';
import type { Warned } from './past-warnings.ts';
import { narrowed, pendingWarning, rankDepth } from './ranked-search.ts';
import { startStats } from './search-answer.ts';
import { adaptiveQuery } from './word-modes.ts';

export interface HybridRequest {
  readonly text: string;
  readonly filter: EntryFilter;
  /** How many filters narrow the search, for its statistics. */
  readonly applied: number;
  readonly rrfK: number;
  readonly explain: boolean;
  /** See Meaning. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

export interface HybridScores {
  rrf: number;
  fts_rank: number | null;
  semantic_rank: number | null;
  fts_score: number | null;
  semantic_distance: number | null;
  rerank_score: number | null;
}

export interface HybridMatches {
  /** The whole order; a page is cut out of it. */
  readonly ranked: readonly { readonly id: number; readonly scores: HybridScores }[];
  readonly modes: readonly ('fts' | 'semantic')[];
  readonly ftsCount: number;
  readonly semanticCount: number;
  readonly warnings: Warned;
  readonly stats: Record<string, unknown>;
}

type Parts = Pick<ContextParts, 'entries' | 'meaning' | 'backend' | 'reranks'>;

/**
 * Search by words and by meaning together:
 *
 * 1. Ask both legs at the same time, each for as many as are ever put in order.
 * 2. Where the meaning cannot be had, go on with the words and say so.
 * 3. Complete the picture: what one leg listed is scored by the other too.
 * 4. Bring the rankings together (search/fusion.ts): each entry gets the sum of its reciprocal ranks and a relevance.
 * 5. Order by relevance, or by ranks alone where that is configured; equals by id.
 */
export async function searchHybrid(
  request: HybridRequest,
  { words }: { words: boolean },
  parts: Parts,
): Promise<HybridMatches> {
  const [byWords, byMeaning] = await Promise.all([
    words ? searchWords(request, parts) : undefined,
    parts.meaning === undefined ? undefined : searchMeaning(request, parts),
  ]);
  const failed = byMeaning !== undefined && 'failure' in byMeaning;
  const meaning = byMeaning === undefined || 'failure' in byMeaning ? undefined : byMeaning;
  if (failed && byWords === undefined) throw byMeaning.failure;
  const unlisted = byWords && meaning ? await scoreUnlisted(request, byWords, meaning, parts) : nothingMore;
  const ranked = rank(byWords, meaning?.matches ?? [], unlisted, request.rrfK, parts);
  const both = ranked.filter(({ scores }) => scores.fts_rank !== null && scores.semantic_rank !== null).length;
  const [ftsCount, semanticCount] = [byWords?.hits.length ?? 0, meaning?.matches.length ?? 0];
  return {
    ranked,
    modes: [...(byWords ? (['fts'] as const) : []), ...(meaning ? (['semantic'] as const) : [])],
    ftsCount,
    semanticCount,
    warnings: failed ? meaningFailed : pendingWarning(meaning?.pending ?? 0),
    stats: {
      fts_stats: byWords?.stats ?? null,
      semantic_stats: meaning?.stats ?? null,
      fusion_stats: {
        rrf_k: request.rrfK,
        total_unique_documents: ranked.length,
        documents_in_both: both,
        documents_fts_only: ftsCount - both,
        documents_semantic_only: semanticCount - both,
      },
      adaptive_fts_mode: byWords?.mode ?? null,
    },
  };
}

/** Of a search that was not carried out. */
export function noStats(rrfK: number): HybridMatches['stats'] {
  const none = { total_unique_documents: 0, documents_in_both: 0, documents_fts_only: 0, documents_semantic_only: 0 };
  return {
    fts_stats: null,
    semantic_stats: null,
    fusion_stats: { rrf_k: rrfK, ...none },
    adaptive_fts_mode: null,
  };
}

const meaningFailed = {
  degraded: 'meaning_unavailable',
  warnings: ['Search by meaning failed; these results are found by words only'],
};

/** The cosines of the bundled model that tell anything lie this close to the best; of others it is not known. */
const bundledSpan = 0.25;

function rank(
  words: { hits: readonly { id: number; score: number }[]; scoreMax: number } | undefined,
  meaning: readonly MeaningMatch[],
  unlisted: Unlisted,
  rrfK: number,
  parts: Parts,
): { id: number; scores: HybridScores }[] {
  const candidates = new Map<number, Candidate>();
  for (const { id, score } of [...(words?.hits ?? []), ...unlisted.words]) {
    const share = score / Math.max(words?.scoreMax ?? 0, Number.EPSILON);
    candidates.set(id, { id, words: { id, share }, meaning: undefined });
  }
  for (const { id, cosine } of [...meaning, ...unlisted.meaning]) {
    candidates.set(id, { id, words: candidates.get(id)?.words, meaning: { id, cosine } });
  }
  const ftsRanks = new Map((words?.hits ?? []).map(({ id, score }, index) => [id, { rank: index + 1, score }]));
  const meaningRanks = new Map(meaning.map(({ id, distance }, index) => [id, { rank: index + 1, distance }]));
  const reciprocal = (place: number | undefined) => (place === undefined ? 0 : 1 / (rrfK + place));
  const meaningSpan = parts.meaning?.model.startsWith('local:') ? bundledSpan : undefined;
  const fused = fuse([...candidates.values()], { order: 'weighted', meaningSpan, rrfK });
  const ranked = fused.map(({ id, score }) => {
    const [byWords, byMeaning] = [ftsRanks.get(id), meaningRanks.get(id)];
    const scores: HybridScores = {
      rrf: reciprocal(byWords?.rank) + reciprocal(byMeaning?.rank),
      fts_rank: byWords?.rank ?? null,
      semantic_rank: byMeaning?.rank ?? null,
      fts_score: byWords?.score ?? null,
      semantic_distance: byMeaning?.distance ?? null,
      rerank_score: parts.reranks ? score : null,
    };
    return { id, scores };
  });
  return parts.reranks ? ranked : ranked.sort((a, b) => b.scores.rrf - a.scores.rrf || a.id - b.id);
}

/** What each leg says about entries that only the other one listed. */
interface Unlisted {
  readonly words: readonly { id: number; score: number }[];
  readonly meaning: readonly { id: number; cosine: number }[];
}

const nothingMore: Unlisted = { words: [], meaning: [] };

/** Far down its list, the search by words no longer scores what it found. */
async function scoreUnlisted(
  { text, signal }: HybridRequest,
  byWords: { hits: readonly { id: number; score: number }[] },
  { matches, vector }: { matches: readonly MeaningMatch[]; vector: Float32Array },
  { entries, meaning }: Parts,
): Promise<Unlisted> {
  const scored = new Set(byWords.hits.filter(({ score }) => score > 0).map(({ id }) => id));
  const near = new Set(matches.map(({ id }) => id));
  const unscored = [...new Set([...near, ...byWords.hits.map(({ id }) => id)])].filter((id) => !scored.has(id));
  const far = byWords.hits.map(({ id }) => id).filter((id) => !near.has(id));
  const [words, more] = await Promise.all([
    entries.weighWords({ query: plainQuery(text), keys: unscored }, { signal }),
    far.length === 0 ? undefined : meaning?.search({ text, vector, limit: far.length, allowed: far, signal }),
  ]);
  return { words: words.weighed.map(({ key, score }) => ({ id: key, score })), meaning: more?.matches ?? [] };
}

async function searchWords(
  { text, filter, applied, explain, signal }: HybridRequest,
  { entries, backend, reranks }: Parts,
) {
  const stats = startStats(backend, applied);
  const adaptive = adaptiveQuery(text);
  const page = { filter, limit: rankDepth, offset: 0, explain };
  // A relevance tells an entry with all words from one with some; ranks alone do not.
  const isStrict = adaptive.mode === 'match' && !reranks;
  const strict = isStrict ? await entries.searchWords({ query: adaptive.query, ...page }, { signal }) : undefined;
  const found =
    strict !== undefined && strict.hits.length > 0
      ? strict
      : await entries.searchWords({ query: plainQuery(text), ...page }, { signal });
  return {
    hits: found.hits,
    scoreMax: found.scoreMax,
    mode: found === strict ? adaptive.mode : 'boolean',
    stats: stats(found.hits.length, found.plan),
  };
}

async function searchMeaning(
  { text, filter, applied, explain, waitMs, signal }: HybridRequest,
  { entries, meaning, backend }: Parts,
) {
  const stats = startStats(backend, applied);
  try {
    const { filter: needed, plan } = await narrowed(entries, filter, explain, signal);
    const found = await meaning?.search({ text, limit: rankDepth, filter: needed, waitMs, signal });
    const { matches = [], pending = 0, vector = new Float32Array() } = found ?? {};
    return { matches, pending, vector, stats: stats(matches.length, plan) };
  } catch (error) {
    // A cancelled call ends; a provider that is away or busy does not take the words with it.
    if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return { failure: error };
    throw error;
  }
}
