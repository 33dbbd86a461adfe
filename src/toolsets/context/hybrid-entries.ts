import { isCarrelError } from '../../base/errors.ts';
import { type Candidate, fuse } from '../../search/fusion.ts';
import type { MeaningMatch } from '../../search/meaning/meaning.ts';
import type { EntryFilter } from '../../storage/entries/entry-filter.ts';
import { plainQuery } from '../../words/word-query.ts';
import type { ContextParts } from './context-parts.ts';
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
 * 3. Complete the picture: the best that one leg found are scored by the other too.
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
  const more = byWords && meaning && parts.reranks ? await complete(request, byWords, meaning, parts) : nothingMore;
  const ranked = rank(byWords, meaning?.matches ?? [], more, request.rrfK, parts);
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

const meaningFailed = {
  degraded: 'meaning_unavailable',
  warnings: ['Search by meaning failed; these results are found by words only'],
};

/** The cosines of the bundled model that tell anything lie this close to the best; of others it is not known. */
const bundledSpan = 0.25;

function rank(
  words: { hits: readonly { id: number; score: number }[]; scoreMax: number } | undefined,
  meaning: readonly MeaningMatch[],
  more: Completed,
  rrfK: number,
  parts: Parts,
): { id: number; scores: HybridScores }[] {
  const candidates = new Map<number, Candidate>();
  for (const { id, score } of words?.hits ?? []) {
    const share = score / Math.max(words?.scoreMax ?? 0, Number.EPSILON);
    candidates.set(id, { id, words: { id, share, terms: [] }, meaning: undefined });
  }
  for (const { id, share } of more.words)
    candidates.set(id, { id, words: { id, share, terms: [] }, meaning: undefined });
  for (const { id, cosine } of [...meaning, ...more.meaning]) {
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

/** What one leg says of entries that only the other had found. It counts for their relevance, not for their ranks. */
interface Completed {
  readonly words: readonly { readonly id: number; readonly share: number }[];
  readonly meaning: readonly MeaningMatch[];
}

const nothingMore: Completed = { words: [], meaning: [] };

/** Of each leg; no page shows more. */
const completedMax = 100;

async function complete(
  { text, signal }: HybridRequest,
  words: { hits: readonly { id: number; score: number }[] },
  found: { matches: readonly MeaningMatch[]; vector: Float32Array | undefined },
  { entries, meaning }: Parts,
): Promise<Completed> {
  // Far behind the best, hits have no score.
  const scored = new Set(words.hits.filter(({ score }) => score > 0).map(({ id }) => id));
  const near = new Set(found.matches.map(({ id }) => id));
  const first = (matches: readonly { id: number }[]) => matches.slice(0, completedMax).map(({ id }) => id);
  const untold = first(found.matches).filter((id) => !scored.has(id));
  const unmeant = first(words.hits).filter((id) => !near.has(id));
  const [told, meant] = await Promise.all([
    untold.length === 0 ? undefined : entries.weighWords({ query: plainQuery(text), keys: untold }, { signal }),
    unmeant.length === 0 || found.vector === undefined
      ? undefined
      : meaning?.search({ text, vector: found.vector, limit: unmeant.length, allowed: unmeant, signal }),
  ]);
  const scoreMax = Math.max(told?.scoreMax ?? 0, Number.EPSILON);
  return {
    words: (told?.weighed ?? []).map(({ key, score }) => ({ id: key, share: score / scoreMax })),
    meaning: meant?.matches ?? [],
  };
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
  { text, filter, applied, explain, signal }: HybridRequest,
  { entries, meaning, backend }: Parts,
) {
  const stats = startStats(backend, applied);
  try {
    const { filter: needed, plan } = await narrowed(entries, filter, explain, signal);
    const found = await meaning?.search({ text, limit: rankDepth, filter: needed, signal });
    const matches = found?.matches ?? [];
    return { matches, vector: found?.vector, pending: found?.pending ?? 0, stats: stats(matches.length, plan) };
  } catch (error) {
    // A cancelled call ends; a provider that is away or busy does not take the words with it.
    if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return { failure: error };
    throw error;
  }
}
