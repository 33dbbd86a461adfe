import { isBlank } from '../../base/text.ts';
import { sharesOf } from '../../search/rank/evidence-shares.ts';
import { searchHybrid } from '../../search/rank/hybrid.ts';
import { type RelevanceCutoff, rerankedMax, rerankPage } from '../../search/rank/rerank-page.ts';
import type { Reranker, RerankingState } from '../../search/rerank/reranker.ts';
import { tagLabel, typeLabel } from '../../storage/documents/selection.ts';
import type { PassageFilter } from '../../storage/passages/passage.ts';
import type { Storage } from '../../storage/storage.ts';
import { quotedIn } from '../../words/word-query.ts';
import { invalidInput, readDocType, readTags } from '../contract/validate-input.ts';
import type { EngineCall, EngineHit, EngineSearch, EngineSearchAnswer } from '../engine.ts';
import type { EngineSettings } from '../engine-slice.ts';
import { type ChunkMeaning, createPassageCorpus } from './passage-corpus.ts';
import { renderNeighbours, truncatedOf } from './render.ts';

const topMax = 100;
const neighboursMax = 5;
const queryCharsMax = 10_000;

export type DocumentSearch = ReturnType<typeof searchOf>;

/** Validates a search. Documents must have all its `tags` and, if set, one of the tags in `scopedTo`. */
export function searchOf(request: EngineSearch, settings: EngineSettings, options: EngineCall = {}) {
  const { query, top = settings.defaultTop, threshold, neighbours = 0, offset = 0 } = request;
  if (isBlank(query)) throw invalidInput('query must have at least one word');
  if (query.length > queryCharsMax) throw invalidInput(`query must have at most ${queryCharsMax} characters`);
  if (!Number.isInteger(top) || top < 1 || top > topMax)
    throw invalidInput(`top must be a whole number from 1 to ${topMax}`);
  if (!Number.isInteger(neighbours) || neighbours < 0 || neighbours > neighboursMax) {
    throw invalidInput(`neighbours must be a whole number from 0 to ${neighboursMax}`);
  }
  if (threshold !== undefined && !(threshold >= 0 && threshold <= 1)) {
    throw invalidInput('threshold must be a number from 0 to 1');
  }
  if (!Number.isInteger(offset) || offset < 0 || offset >= topMax) {
    throw invalidInput(`offset must be a whole number from 0 to ${topMax - 1}`);
  }
  if (request.fts_only && request.vec_only) throw invalidInput('fts_only and vec_only exclude each other');
  return {
    query,
    top,
    tags: readTags(request.tags ?? []) as readonly string[],
    docType: readDocType(request.doc_type),
    mode: modeOf(request),
    threshold,
    includesWeak: request.include_weak ?? false,
    neighbours,
    offset,
    scopedTo: options.scopedTo,
    signal: options.signal ?? new AbortController().signal,
  };
}

function modeOf({ fts_only: wordsOnly, vec_only: meaningOnly }: EngineSearch): 'words' | 'meaning' | 'hybrid' {
  if (wordsOnly) return 'words';
  return meaningOnly ? 'meaning' : 'hybrid';
}

export interface SearchDeps {
  readonly storage: Storage;
  readonly meaning: ChunkMeaning | undefined;
  readonly reranker: Reranker;
}

interface RankedChunk {
  readonly id: number;
  readonly relevance: number;
  readonly why: Record<string, unknown>;
}

interface Ranking {
  readonly ranked: readonly RankedChunk[];
  readonly total: number;
  /** Number of weak chunks that were omitted from the results. */
  readonly omitted: number;
  readonly reranking: RerankingState | undefined;
  readonly degraded?: string;
}

/** Max chunks ranked with a threshold. */
const rankedMax = 1_000;

/**
 * Searches documents:
 * 1. Rank chunks (search/rank/hybrid.ts), in two reads: find and complete.
 * 2. Omit chunks that are weak or below the threshold, and count the rest.
 * 3. Read the first `top` chunks with their documents.
 */
export async function searchDocuments(request: DocumentSearch, deps: SearchDeps): Promise<EngineSearchAnswer> {
  const { ranked, total, omitted, reranking, degraded } = await rank(request, deps);
  const results = await hitsOf(ranked.slice(request.offset, request.top), request, deps);
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

const embeddingsOff = 'Embeddings are switched off (EMBEDDING_PROVIDER=none): these results were found by words only.';
const meaningUnavailable = 'Search by meaning is temporarily unavailable: these results were found by words only.';

async function rank(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  const { meaning } = deps;
  if (request.mode === 'words') return rankByWords(request, deps);
  if (meaning !== undefined) return rankWithMeaning(request, deps, meaning);
  const ranking = await rankByWords(request, deps);
  return request.mode === 'meaning' ? { ...ranking, degraded: embeddingsOff } : ranking;
}

async function rankWithMeaning(request: DocumentSearch, deps: SearchDeps, meaning: ChunkMeaning): Promise<Ranking> {
  const { query: text, signal, mode } = request;
  // Counts word matches beyond the ranked ones too, unless weak or low-relevance hits are omitted.
  const countsAll = mode !== 'meaning' && cutoffOf(request) === undefined;
  const corpus = createPassageCorpus({
    passages: deps.storage.passages,
    meaning,
    searchesWords: mode !== 'meaning' || quotedIn(text).phrases.length > 0,
    filter: filterOf(request),
    countsAll,
  });
  const found = await searchHybrid(
    { text, limit: depthOf(request), cutoff: cutoffOf(request), signal },
    { corpus, rerankDeps: corpus.rerankDeps(deps.reranker) },
  );
  if (found.failure !== undefined) return { ...(await rankByWords(request, deps)), degraded: meaningUnavailable };
  const ranked = found.matches.map(({ id, relevance, explanation, evidence }) => ({
    id,
    relevance,
    why: { ...explanation, evidence: sharesOf(evidence, deps.reranker) },
  }));
  // Word matches without vectors are embedded first, so that the next search also finds them by meaning.
  const unembedded = found.matches.filter(({ explanation }) => !explanation.meaning);
  if (found.pending > 0) meaning.prefer(unembedded.map(({ id }) => id));
  const { counts } = corpus;
  return {
    ranked,
    total: found.ranked + (countsAll ? Math.max(0, counts.total - counts.found) : 0),
    omitted: request.threshold === undefined ? found.omitted : 0,
    reranking: found.reranking,
    ...pendingNote(found.pending),
  };
}

function pendingNote(pending: number): { degraded?: string } {
  return pending === 0 ? {} : { degraded: `${pending} chunks are not embedded yet; only keyword search finds them.` };
}

async function rankByWords(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  const { query: text, top, threshold, signal } = request;
  const corpus = createPassageCorpus({
    passages: deps.storage.passages,
    meaning: undefined,
    searchesWords: true,
    filter: filterOf(request),
    countsAll: threshold === undefined,
  });
  const { words: matches, scoreMissing } = await corpus.find(text, Math.max(depthOf(request), rerankedMax), signal);
  await scoreMissing();
  const rerankDeps = corpus.rerankDeps(deps.reranker);
  const { page, included, reranking } = await rerankPage(
    {
      text,
      limit: depthOf(request),
      offset: 0,
      cutoff: threshold === undefined ? undefined : { below: threshold },
      signal,
    },
    matches.map(({ id, share }, index) => ({ id, score: share, rank: index + 1 })),
    rerankDeps,
  );
  const displayed = page.slice(0, top).map(({ hit }) => hit.id);
  const terms = new Map(
    (await rerankDeps.words.score(text, displayed, signal)).map((match) => [match.id, match.terms]),
  );
  const ranked = page.map(({ hit: { id, score: share, rank }, relevance, evidence }) => ({
    id,
    relevance,
    why: { words: { rank, share, terms: terms.get(id) }, evidence: sharesOf(evidence, deps.reranker) },
  }));
  return { ranked, total: threshold === undefined ? corpus.counts.total : included, omitted: 0, reranking };
}

function cutoffOf({ threshold, includesWeak }: DocumentSearch): RelevanceCutoff | undefined {
  if (threshold !== undefined) return { below: threshold };
  return includesWeak ? undefined : 'weak';
}

/** Returns how many chunks to rank. With a threshold, ranks more, so that all chunks above it are counted. */
function depthOf({ top, threshold }: DocumentSearch): number {
  return threshold === undefined ? top : rankedMax;
}

/** Creates the filter. A chunk must have one label of each group. Each tag is its own group, so all tags must match. */
function filterOf({ tags, docType, scopedTo }: DocumentSearch): PassageFilter {
  const all = [...tags.map(tagLabel), ...(docType === undefined ? [] : [typeLabel(docType)])];
  const labels = [...all.map((label) => [label]), ...(scopedTo === undefined ? [] : [scopedTo.map(tagLabel)])];
  return labels.length === 0 ? {} : { labels };
}

/** Reads chunks with their documents. Omits chunks that were deleted during the search. */
async function hitsOf(
  ranked: readonly RankedChunk[],
  { neighbours, signal }: DocumentSearch,
  { storage }: SearchDeps,
): Promise<EngineHit[]> {
  if (ranked.length === 0) return [];
  const found = await storage.documents.located({ keys: ranked.map(({ id }) => id), neighbours }, { signal });
  const chunks = new Map(found.map((chunk) => [chunk.key, chunk]));
  return ranked.flatMap(({ id, relevance, why }) => {
    const chunk = chunks.get(id);
    if (chunk === undefined) return [];
    const { document } = chunk;
    return [
      {
        document_id: document.id,
        chunk_id: chunk.key,
        score: relevance,
        relevance,
        text: chunk.text,
        chunk_index: chunk.position,
        chunk_metadata: chunk.metadata,
        title: document.title,
        doc_type: document.docType,
        source_path: document.sourcePath ?? null,
        content_hash: document.contentHash,
        created_at: document.createdAt,
        tags: [...document.tags],
        ...truncatedOf(document.details),
        why,
        ...(neighbours > 0 ? { neighbours: renderNeighbours(chunk) } : {}),
      },
    ];
  });
}
