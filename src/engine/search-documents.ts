import { legCandidates } from '../search/fusion.ts';
import { type MeaningLeg, searchHybrid, type WordLeg } from '../search/hybrid.ts';
import { tagLabel, typeLabel } from '../storage/documents/document-work.ts';
import type { PassageFilter } from '../storage/passages.ts';
import type { Storage } from '../storage/storage.ts';
import { plainQuery } from '../words/word-query.ts';
import type { EngineSearchAnswer } from './engine.ts';
import { hitsOf, type RankedChunk } from './search-hits.ts';

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

/** Search by meaning over the chunks, which are known by the keys of their passages. */
export interface ChunkMeaning {
  /** Cosines that tell anything lie this close to the best, where that is known of the model. */
  readonly span: number | undefined;
  embed(text: string, signal: AbortSignal): Promise<Float32Array>;
  search(request: MeaningRequest): Promise<{ matches: readonly ChunkMatch[]; pending: number }>;
}

interface ChunkMatch {
  readonly id: number;
  readonly cosine: number;
  readonly window?: { readonly start: number; readonly end: number };
}

interface MeaningRequest {
  readonly text: string;
  readonly limit: number;
  readonly filter?: PassageFilter;
  readonly allowed?: ReadonlySet<number>;
  readonly signal: AbortSignal;
}

export interface SearchDeps {
  readonly storage: Storage;
  /** Undefined where nothing is embedded. */
  readonly meaning: ChunkMeaning | undefined;
}

interface Ranking {
  readonly ranked: readonly RankedChunk[];
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
  const results = await hitsOf(kept.slice(0, request.top), request, deps.storage);
  return {
    query: request.query,
    results,
    // A chunk that was not put in order scores less than all that were.
    total_matches: kept.length + (kept.length === ranked.length ? unranked : 0),
    returned: results.length,
    ...(degraded === undefined ? {} : { degraded }),
  };
}

const noMeaning = 'Nothing is embedded here (EMBEDDING_PROVIDER=none): these results are found by words.';
const meaningAway = 'Search by meaning is not available now: these results are found by words only.';

async function rank(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  const { meaning } = deps;
  if (request.mode === 'words') return rankByWords(request, deps);
  if (meaning !== undefined) return rankWithMeaning(request, deps, meaning);
  const ranking = await rankByWords(request, deps);
  return request.mode === 'meaning' ? { ...ranking, degraded: noMeaning } : ranking;
}

const rrfK = 60;

async function rankWithMeaning(request: DocumentSearch, deps: SearchDeps, meaning: ChunkMeaning): Promise<Ranking> {
  const { query: text, signal = new AbortController().signal } = request;
  const words = createWordLeg(request, deps);
  const near = createMeaningLeg(request, meaning);
  const { matches, degraded } = await searchHybrid(
    { text, limit: Number.MAX_SAFE_INTEGER, signal },
    { order: 'weighted', meaningSpan: meaning.span, rrfK },
    { words: request.mode === 'meaning' ? noWords : words, meaning: near },
  );
  if (degraded !== undefined) {
    return { ...(await rankByWords(request, deps)), degraded: meaningAway };
  }
  const ranked = matches.map(({ id, score, explanation }) => ({
    id,
    score: request.mode === 'meaning' ? Math.max(0, explanation.meaning?.cosine ?? 0) : score,
    why: { ...explanation },
  }));
  const waiting = near.pending();
  const unranked = request.mode === 'meaning' ? 0 : Math.max(0, words.total() - words.found());
  return { ranked, unranked, ...(waiting > 0 ? { degraded: pendingNote(waiting) } : {}) };
}

function pendingNote(pending: number): string {
  return `${pending} chunks are not embedded yet and are found by their words only.`;
}

async function rankByWords(request: DocumentSearch, deps: SearchDeps): Promise<Ranking> {
  const leg = createWordLeg(request, deps);
  const matches = await leg.search(request.query, Math.max(legCandidates, request.top), request.signal);
  return {
    ranked: matches.map(({ id, share }, index) => ({ id, score: share, why: { words: { rank: index + 1, share } } })),
    unranked: Math.max(0, leg.total() - matches.length),
  };
}

interface CountedWordLeg extends WordLeg {
  /** Chunks that hold a word of the query, and how many of them were given back. */
  total(): number;
  found(): number;
}

function createWordLeg(request: DocumentSearch, { storage }: SearchDeps): CountedWordLeg {
  const filter = filterOf(request);
  let total = 0;
  let found = 0;
  const ask = async (text: string, narrowed: PassageFilter, limit: number, signal: AbortSignal | undefined) => {
    const page = await storage.passages.kb.search(
      { query: plainQuery(text), filter: narrowed, limit, offset: 0 },
      { signal },
    );
    const best = Math.max(page.scoreMax, Number.EPSILON);
    const matches = page.hits.map(({ key, score }) => ({ id: key, share: score / best, terms: [] }));
    return { matches, total: page.total };
  };
  return {
    async search(text, limit, signal) {
      const answer = await ask(text, filter, Math.max(limit, request.top), signal);
      total = answer.total;
      found = answer.matches.length;
      return answer.matches;
    },
    score: async (text, ids, signal) =>
      ids.length === 0 ? [] : (await ask(text, { keys: ids }, ids.length, signal)).matches,
    total: () => total,
    found: () => found,
  };
}

const noWords: WordLeg = { search: async () => [], score: async () => [] };

function createMeaningLeg(request: DocumentSearch, meaning: ChunkMeaning): MeaningLeg & { pending(): number } {
  const { query: text, signal = new AbortController().signal } = request;
  const filter = filterOf(request);
  let pending = 0;
  return {
    embed: (query) => meaning.embed(query, signal),
    async search(_vector, limit) {
      const answer = await meaning.search({ text, limit: Math.max(limit, request.top), filter, signal });
      pending = answer.pending;
      return answer.matches;
    },
    async score(_vector, ids) {
      if (ids.length === 0) return [];
      return (await meaning.search({ text, limit: ids.length, allowed: new Set(ids), signal })).matches;
    },
    pending: () => pending,
  };
}

/** Of each group at least one label: so each tag is a group, and all must be there. */
function filterOf({ tags, docType }: Pick<DocumentSearch, 'tags' | 'docType'>): PassageFilter {
  const groups = [...tags.map(tagLabel), ...(docType === undefined ? [] : [typeLabel(docType)])];
  return groups.length === 0 ? {} : { labels: groups.map((label) => [label]) };
}
