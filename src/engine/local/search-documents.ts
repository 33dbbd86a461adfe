import { sharesOf } from '../../search/evidence-shares.ts';
import { legCandidates } from '../../search/fusion.ts';
import { searchHybrid } from '../../search/hybrid.ts';
import { type Cut, judgePage, rerankedMax } from '../../search/judging.ts';
import type { Meaning } from '../../search/meaning/meaning.ts';
import { createMeaningLeg } from '../../search/meaning-leg.ts';
import type { Reranker, RerankingState } from '../../search/reranking/reranker.ts';
import { createWordLeg } from '../../search/word-leg.ts';
import type { PassageFilter } from '../../storage/contracts/passages.ts';
import type { Storage } from '../../storage/contracts/storage.ts';
import { tagLabel, typeLabel } from '../../storage/stores/documents/selection.ts';
import type { EngineSearchAnswer } from '../engine.ts';
import { createPassageJudging } from './passage-judging.ts';
import { hitsOf, type RankedChunk } from './search-hits.ts';

export interface DocumentSearch {
  readonly query: string;
  readonly top: number;
  readonly tags: readonly string[];
  /** The document must have at least one of these, too. */
  readonly within: readonly string[] | undefined;
  readonly docType: string | undefined;
  readonly mode: 'hybrid' | 'words' | 'meaning';
  readonly threshold: number | undefined;
  readonly includesWeak: boolean;
  readonly neighbours: number;
  readonly offset: number;
  readonly signal: AbortSignal;
}

/** Search by meaning over the chunks, which are identified by the keys of their passages. */
export type ChunkMeaning = Pick<Meaning<PassageFilter>, 'search' | 'prefer'>;

export interface SearchDeps {
  readonly storage: Storage;
  /** Undefined if nothing is embedded. */
  readonly meaning: ChunkMeaning | undefined;
  readonly reranker: Reranker;
}

interface Ranking {
  /** In order, as many as needed. */
  readonly ranked: readonly RankedChunk[];
  readonly total: number;
  /** Chunks that would be among the first if weak ones were shown. */
  readonly omitted: number;
  readonly reranking: RerankingState | undefined;
  readonly degraded?: string;
}

/** With a threshold, this many chunks are ranked at most. */
const rankedMax = 1_000;

/**
 * 1. Search with both legs, over the chunks that pass the filters.
 * 2. Merge the results into one order, rerank the best, and judge how relevant each is.
 * 3. Drop what is below the threshold or hardly fits, count the rest, and return the first `top`.
 */
export async function searchDocuments(request: DocumentSearch, deps: SearchDeps): Promise<EngineSearchAnswer> {
  const { ranked, total, omitted, reranking, degraded } = await rank(request, deps);
  const results = await hitsOf(ranked.slice(request.offset, request.top), request, deps.storage);
  return {
    query: request.query,
    results,
    total_matches: total,
    returned: results.length,
    ...(omitted > 0 ? { weak_omitted: omitted } : {}),
    ...(reranking === undefined ? {} : { reranking }),
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
  // Matches by words beyond those that are ranked count, too, unless something is to be left out.
  const countsAll = mode !== 'meaning' && cutOf(request) === undefined;
  const { leg: words, counts } = wordLegOf(request, deps, countsAll);
  const filter = filterOf(request);
  const near = createMeaningLeg<PassageFilter>({
    meaning,
    filter: filter.labels === undefined ? undefined : filter,
    texts: async (ids) => (await deps.storage.passages.get(ids, { signal })).map(({ body }) => body),
  });
  const found = await searchHybrid(
    { text, limit: depthOf(request), explain: true, cut: cutOf(request), signal },
    { order: 'weighted', rrfK },
    {
      words: mode === 'meaning' ? undefined : words,
      meaning: near,
      judging: createPassageJudging(deps.storage.passages, deps.reranker, words),
    },
  );
  if (found.failure !== undefined) return { ...(await rankByWords(request, deps)), degraded: meaningAway };
  const ranked = found.matches.map(({ id, relevance = 0, explanation, evidence = {} }) => ({
    id,
    relevance,
    why: { ...explanation, evidence: sharesOf(evidence, deps.reranker) },
  }));
  // Whoever asks next for what was found here finds it by its meaning, too.
  if (found.pending > 0)
    meaning.prefer(found.matches.filter(({ explanation }) => !explanation.meaning).map(({ id }) => id));
  const unranked = countsAll ? Math.max(0, counts.total - counts.found) : 0;
  return {
    ranked,
    total: found.ranked + unranked,
    omitted: request.threshold === undefined ? found.omitted : 0,
    reranking: found.reranking,
    ...pendingNote(found.pending),
  };
}

function pendingNote(pending: number): { degraded?: string } {
  return pending === 0 ? {} : { degraded: `${pending} chunks are not embedded yet and can only be found by words.` };
}

async function rankByWords(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  const { query: text, top, threshold, signal } = request;
  const { leg, counts } = wordLegOf(request, deps, threshold === undefined);
  const matches = await leg.search(text, Math.max(depthOf(request), rerankedMax), signal);
  const { page, kept, reranking } = await judgePage(
    {
      text,
      limit: depthOf(request),
      offset: 0,
      cut: threshold === undefined ? undefined : { below: threshold },
      signal,
    },
    matches.map(({ id, share }, index) => ({ id, score: share, rank: index + 1 })),
    createPassageJudging(deps.storage.passages, deps.reranker, leg),
  );
  const shown = page.slice(0, top).map(({ hit }) => hit.id);
  const terms = new Map((await leg.score(text, shown, signal)).map((match) => [match.id, match.terms]));
  const ranked = page.map(({ hit: { id, score: share, rank }, relevance, evidence }) => ({
    id,
    relevance,
    why: { words: { rank, share, terms: terms.get(id) }, evidence: sharesOf(evidence, deps.reranker) },
  }));
  return { ranked, total: threshold === undefined ? counts.total : kept, omitted: 0, reranking };
}

function cutOf({ threshold, includesWeak }: DocumentSearch): Cut | undefined {
  if (threshold !== undefined) return { below: threshold };
  return includesWeak ? undefined : 'weak';
}

/** With a threshold, everything above it is counted; otherwise only what is shown is needed. */
function depthOf({ top, threshold }: DocumentSearch): number {
  return threshold === undefined ? top : rankedMax;
}

function wordLegOf(request: DocumentSearch, { storage: { passages } }: SearchDeps, countsAll: boolean) {
  const filter = filterOf(request);
  /** Chunks with a word of the query, where all are counted, and how many of them were returned. */
  const counts = { total: 0, found: 0 };
  const leg = createWordLeg({
    async search(asked, options) {
      const limit = Math.max(asked.limit, legCandidates);
      const { hits, total, scoreMax } = await passages.search({ ...asked, limit, filter, counts: countsAll }, options);
      Object.assign(counts, { total, found: hits.length });
      return { hits: hits.map(({ key, score, coverage }) => ({ id: key, score, coverage })), scoreMax };
    },
    weigh: (asked, options) => passages.weigh(asked, options),
  });
  return { leg, counts };
}

/** At least one label of each group must match, so each tag is a group of its own: all must match. */
function filterOf({ tags, docType, within }: DocumentSearch): PassageFilter {
  const all = [...tags.map(tagLabel), ...(docType === undefined ? [] : [typeLabel(docType)])];
  const labels = [...all.map((label) => [label]), ...(within === undefined ? [] : [within.map(tagLabel)])];
  return labels.length === 0 ? {} : { labels };
}
