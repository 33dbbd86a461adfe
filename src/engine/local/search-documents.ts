import { legCandidates } from '../../search/fusion.ts';
import { searchHybrid } from '../../search/hybrid.ts';
import type { Meaning } from '../../search/meaning/meaning.ts';
import { createMeaningLeg } from '../../search/meaning-leg.ts';
import { createWordLeg } from '../../search/word-leg.ts';
import type { PassageFilter } from '../../storage/contracts/passages.ts';
import type { Storage } from '../../storage/contracts/storage.ts';
import { tagLabel, typeLabel } from '../../storage/stores/documents/selection.ts';
import type { EngineSearchAnswer } from '../engine.ts';
import { hitsOf, type RankedChunk } from './search-hits.ts';

export interface DocumentSearch {
  readonly query: string;
  readonly top: number;
  readonly tags: readonly string[];
  readonly docType: string | undefined;
  readonly mode: 'hybrid' | 'words' | 'meaning';
  readonly threshold: number | undefined;
  readonly neighbours: number;
  readonly signal: AbortSignal;
}

/** Search by meaning over the chunks, which are identified by the keys of their passages. */
export type ChunkMeaning = Pick<Meaning<PassageFilter>, 'search' | 'prefer'>;

export interface SearchDeps {
  readonly storage: Storage;
  /** Undefined if nothing is embedded. */
  readonly meaning: ChunkMeaning | undefined;
}

interface Ranking {
  /** In order, as many as needed. */
  readonly ranked: readonly RankedChunk[];
  readonly total: number;
  readonly degraded?: string;
}

/** With a threshold, this many chunks are ranked at most. */
const rankedMax = 1_000;

/**
 * 1. Search with both legs, over the chunks that pass the filters.
 * 2. Merge the results into one order; scores are between 0 and 1 in every mode.
 * 3. Drop what is below the threshold, count the rest, and return the first `top`.
 */
export async function searchDocuments(request: DocumentSearch, deps: SearchDeps): Promise<EngineSearchAnswer> {
  const { ranked, total, degraded } = await rank(request, deps);
  const { threshold } = request;
  const kept = threshold === undefined ? ranked : ranked.filter(({ score }) => score >= threshold);
  const results = await hitsOf(kept.slice(0, request.top), request, deps.storage);
  return {
    query: request.query,
    results,
    total_matches: threshold === undefined ? total : kept.length,
    returned: results.length,
    ...(degraded === undefined ? {} : { degraded }),
  };
}

const noMeaning = 'Embeddings are switched off here (EMBEDDING_PROVIDER=none): these results were found by words.';
const meaningAway = 'Search by meaning is unavailable at the moment: these results were found by words only.';

async function rank(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  const { meaning } = deps;
  if (request.mode === 'words') return rankByWords(request, deps);
  if (meaning !== undefined) return rankWithMeaning(request, deps, meaning);
  const ranking = await rankByWords(request, deps);
  return request.mode === 'meaning' ? { ...ranking, degraded: noMeaning } : ranking;
}

const rrfK = 60;

async function rankWithMeaning(request: DocumentSearch, deps: SearchDeps, meaning: ChunkMeaning): Promise<Ranking> {
  const { query: text, signal, mode } = request;
  const { leg: words, counts } = wordLegOf(request, deps);
  const filter = filterOf(request);
  const near = createMeaningLeg<PassageFilter>({
    meaning,
    filter: filter.labels === undefined ? undefined : filter,
    texts: async (ids) => (await deps.storage.passages.get(ids, { signal })).map(({ body }) => body),
  });
  const found = await searchHybrid(
    { text, limit: depthOf(request), explain: true, signal },
    { order: 'weighted', rrfK },
    { words: mode === 'meaning' ? undefined : words, meaning: near },
  );
  if (found.failure !== undefined) return { ...(await rankByWords(request, deps)), degraded: meaningAway };
  // Without any match by words, the fused score is only relative to the best, which would be 1 however far it is.
  const isMeaningAlone = mode === 'meaning' || counts.found === 0;
  const ranked = found.matches.map(({ id, score, explanation }) => ({
    id,
    score: isMeaningAlone ? Math.max(0, explanation.meaning?.cosine ?? 0) : score,
    why: { ...explanation },
  }));
  // Whoever asks next for what was found here finds it by its meaning, too.
  if (found.pending > 0)
    meaning.prefer(found.matches.filter(({ explanation }) => !explanation.meaning).map(({ id }) => id));
  // Matches by words beyond those that were ranked count, too.
  const unranked = mode === 'meaning' ? 0 : Math.max(0, counts.total - counts.found);
  return { ranked, total: found.ranked + unranked, ...pendingNote(found.pending) };
}

function pendingNote(pending: number): { degraded?: string } {
  return pending === 0 ? {} : { degraded: `${pending} chunks are not embedded yet and can only be found by words.` };
}

async function rankByWords(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  const { query, top, signal } = request;
  const { leg, counts } = wordLegOf(request, deps);
  const matches = await leg.search(query, depthOf(request), signal);
  const shown = matches.slice(0, top).map(({ id }) => id);
  const terms = new Map((await leg.score(query, shown, signal)).map((match) => [match.id, match.terms]));
  const ranked = matches.map(({ id, share }, index) => ({
    id,
    score: share,
    why: { words: { rank: index + 1, share, terms: terms.get(id) } },
  }));
  return { ranked, total: counts.total };
}

/** With a threshold, everything above it is counted; otherwise only what is shown is needed. */
function depthOf({ top, threshold }: DocumentSearch): number {
  return threshold === undefined ? top : rankedMax;
}

function wordLegOf(request: DocumentSearch, { storage: { passages } }: SearchDeps) {
  const filter = filterOf(request);
  /** Chunks with a word of the query, and how many of them were returned. */
  const counts = { total: 0, found: 0 };
  const leg = createWordLeg({
    async search(asked, options) {
      const limit = Math.max(asked.limit, legCandidates);
      const { hits, total, scoreMax } = await passages.search({ ...asked, limit, filter }, options);
      Object.assign(counts, { total, found: hits.length });
      return { hits: hits.map(({ key, score }) => ({ id: key, score })), scoreMax };
    },
    weigh: (asked, options) => passages.weigh(asked, options),
  });
  return { leg, counts };
}

/** At least one label of each group must match, so each tag is a group of its own: all must match. */
function filterOf({ tags, docType }: Pick<DocumentSearch, 'tags' | 'docType'>): PassageFilter {
  const groups = [...tags.map(tagLabel), ...(docType === undefined ? [] : [typeLabel(docType)])];
  return groups.length === 0 ? {} : { labels: groups.map((label) => [label]) };
}
