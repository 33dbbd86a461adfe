import { isCarrelError } from '../base/errors.ts';
import { type Candidate, fuse, legCandidates, type RankExplanation } from '../search/fusion.ts';
import { tagLabel, typeLabel } from '../storage/documents/document-work.ts';
import type { PassageFilter } from '../storage/passages.ts';
import type { Storage } from '../storage/storage.ts';
import { plainQuery } from '../words/word-query.ts';
import type { EngineHit, EngineSearchAnswer } from './engine.ts';
import { neighboursOnWire } from './wire.ts';

export interface DocumentSearch {
  readonly query: string;
  readonly top: number;
  readonly tags: readonly string[];
  readonly docType: string | undefined;
  readonly mode: 'hybrid' | 'words' | 'meaning';
  readonly threshold: number | undefined;
  readonly neighbours: number;
  readonly signal?: AbortSignal | undefined;
}

/** Search by meaning over the chunks, by the keys of their passages. */
export interface ChunkMeaning {
  readonly span: number | undefined;
  search(request: {
    text: string;
    limit: number;
    filter: PassageFilter;
    signal: AbortSignal;
  }): Promise<{ matches: readonly { id: number; cosine: number }[]; pending: number }>;
}

export interface SearchDeps {
  readonly storage: Storage;
  /** Undefined where nothing is embedded. */
  readonly meaning: ChunkMeaning | undefined;
}

interface Ranked {
  readonly id: number;
  /** 0 to 1. */
  readonly score: number;
  readonly why: Record<string, unknown>;
}

interface Ranking {
  readonly ranked: readonly Ranked[];
  /** Chunks that match beyond those that were put in order. */
  readonly unranked: number;
  readonly degraded?: string;
}

/**
 * 1. Ask the legs, each over the chunks that the filters let through.
 * 2. Put what they found in one order; scores are between 0 and 1 in every mode.
 * 3. Leave out what is below the threshold, count the rest, and show the first `top` of it.
 */
export async function searchDocuments(request: DocumentSearch, deps: SearchDeps): Promise<EngineSearchAnswer> {
  const { ranked, unranked, degraded } = await rank(request, deps);
  const { threshold } = request;
  const kept = threshold === undefined ? ranked : ranked.filter(({ score }) => score >= threshold);
  const results = await hitsOf(kept.slice(0, request.top), request, deps);
  return {
    query: request.query,
    results,
    total_matches: kept.length + (threshold === undefined ? unranked : 0),
    returned: results.length,
    ...(degraded === undefined ? {} : { degraded }),
  };
}

const noMeaning = 'Nothing is embedded here (EMBEDDING_PROVIDER=none): these results are found by words.';
const meaningAway = 'Search by meaning is not available now: these results are found by words only.';

async function rank(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  if (request.mode === 'words') return rankWords(await searchWords(request, deps));
  if (deps.meaning === undefined) {
    const ranking = rankWords(await searchWords(request, deps));
    return request.mode === 'meaning' ? { ...ranking, degraded: noMeaning } : ranking;
  }
  const [words, meaning] = await Promise.all([
    request.mode === 'meaning' ? undefined : searchWords(request, deps),
    searchMeaning(request, deps.meaning),
  ]);
  if (meaning === undefined) {
    return { ...rankWords(words ?? (await searchWords(request, deps))), degraded: meaningAway };
  }
  const degraded = pendingNote(meaning.pending);
  if (words === undefined) return { ...rankMeaning(meaning.matches), ...degraded };
  return { ...rankBoth(words, meaning.matches, deps.meaning.span), ...degraded };
}

function pendingNote(pending: number): { degraded?: string } {
  if (pending === 0) return {};
  return { degraded: `${pending} chunks are not embedded yet and are found by their words only.` };
}

interface WordLeg {
  readonly matches: readonly { id: number; share: number }[];
  readonly total: number;
}

async function searchWords({ query, signal, ...request }: DocumentSearch, { storage }: SearchDeps): Promise<WordLeg> {
  const limit = Math.max(legCandidates, request.top);
  const page = await storage.passages.kb.search(
    { query: plainQuery(query), filter: filterOf(request), limit, offset: 0 },
    { signal },
  );
  const best = Math.max(page.scoreMax, Number.EPSILON);
  return { matches: page.hits.map(({ key, score }) => ({ id: key, share: score / best })), total: page.total };
}

async function searchMeaning(request: DocumentSearch, meaning: ChunkMeaning) {
  const { query: text, top, signal = new AbortController().signal } = request;
  try {
    return await meaning.search({ text, limit: Math.max(legCandidates, top), filter: filterOf(request), signal });
  } catch (error) {
    // A cancelled call ends; a provider that is away or busy does not take the words with it.
    if (isCarrelError(error) && ['upstream', 'limit', 'timeout'].includes(error.kind)) return undefined;
    throw error;
  }
}

/** Of each group at least one label: so each tag is a group, and all must be there. */
export function filterOf({ tags, docType }: Pick<DocumentSearch, 'tags' | 'docType'>): PassageFilter {
  const groups = [...tags.map(tagLabel), ...(docType === undefined ? [] : [typeLabel(docType)])];
  return groups.length === 0 ? {} : { labels: groups.map((label) => [label]) };
}

function rankWords({ matches, total }: WordLeg): Ranking {
  return {
    ranked: matches.map(({ id, share }, index) => ({ id, score: share, why: { words: { rank: index + 1, share } } })),
    unranked: Math.max(0, total - matches.length),
  };
}

function rankMeaning(matches: readonly { id: number; cosine: number }[]): Ranking {
  return {
    ranked: matches.map(({ id, cosine }, index) => ({
      id,
      score: Math.max(0, cosine),
      why: { meaning: { rank: index + 1, cosine } },
    })),
    unranked: 0,
  };
}

const rrfK = 60;

function rankBoth(
  words: WordLeg,
  meaning: readonly { id: number; cosine: number }[],
  meaningSpan: number | undefined,
): Ranking {
  const candidates = new Map<number, Candidate>();
  for (const { id, share } of words.matches) {
    candidates.set(id, { id, words: { id, share, terms: [] }, meaning: undefined });
  }
  for (const { id, cosine } of meaning) {
    candidates.set(id, { id, words: candidates.get(id)?.words, meaning: { id, cosine } });
  }
  const fused = fuse([...candidates.values()], { order: 'weighted', meaningSpan, rrfK });
  return {
    ranked: fused.map(({ id, score, explanation }) => ({ id, score, why: whyOf(explanation) })),
    unranked: Math.max(0, words.total - words.matches.length),
  };
}

function whyOf({ words, meaning, rrf }: RankExplanation): Record<string, unknown> {
  return {
    ...(words === undefined ? {} : { words: { rank: words.rank, share: words.share, weight: words.weight } }),
    ...(meaning === undefined ? {} : { meaning }),
    rrf,
  };
}

async function hitsOf(
  shown: readonly Ranked[],
  request: DocumentSearch,
  { storage }: SearchDeps,
): Promise<EngineHit[]> {
  const { neighbours, signal } = request;
  const found = await storage.documents.located({ keys: shown.map(({ id }) => id), neighbours }, { signal });
  const chunks = new Map(found.map((chunk) => [chunk.key, chunk]));
  return shown.flatMap(({ id, score, why }) => {
    const chunk = chunks.get(id);
    // Deleted since it was found.
    if (chunk === undefined) return [];
    const { document } = chunk;
    return [
      {
        document_id: document.id,
        chunk_id: chunk.key,
        score,
        text: chunk.text,
        chunk_index: chunk.position,
        chunk_metadata: chunk.metadata,
        title: document.title,
        doc_type: document.docType,
        source_path: document.sourcePath ?? null,
        created_at: document.createdAt,
        tags: [...document.tags],
        why,
        ...(neighbours > 0 ? { neighbours: neighboursOnWire(chunk) } : {}),
      },
    ];
  });
}
