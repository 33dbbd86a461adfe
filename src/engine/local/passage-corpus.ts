import type { Meaning, MeaningCandidates } from '../../search/meaning/meaning.ts';
import { bestOfOwners } from '../../search/meaning/nearest-vectors.ts';
import { cosineSpanOf } from '../../search/models/bundled-model.ts';
import { type CorpusMatches, failureOf, idsMissingFrom, type MeaningScores } from '../../search/rank/corpus.ts';
import { retrieverCandidates, type WordMatch } from '../../search/rank/fusion.ts';
import type { TextToRerank } from '../../search/rank/rerank-page.ts';
import { matchesOf, wordMatches } from '../../search/rank/retrievers.ts';
import type { Reranker } from '../../search/rerank/reranker.ts';
import type { CompletePassages, FoundPassages, PassageFilter, StoredPassage } from '../../storage/passages/passage.ts';
import type { PassageStore } from '../../storage/passages/passage-store.ts';
import type { ScoredVector } from '../../storage/vectors/vector.ts';
import { plainQuery } from '../../words/word-query.ts';

/** Search by meaning over chunks. Chunks are identified by the keys of their passages. */
export type ChunkMeaning = Pick<Meaning<PassageFilter>, 'find' | 'prefer'>;

export interface PassageCorpusOptions {
  readonly passages: Pick<PassageStore, 'find' | 'complete' | 'get' | 'scoreWords'>;
  readonly meaning: ChunkMeaning | undefined;
  /** False to search by meaning only. */
  readonly searchesWords: boolean;
  readonly filter: PassageFilter;
  /** True to count all chunks with a query word, including those not returned. */
  readonly countsAll: boolean;
}

/** Max word matches that `scoreMissing` reads. Reranking reads further ones if it needs them. */
const wordMatchesRead = 200;

/** Creates the corpus of chunks for one search. `find` and `scoreMissing` read once each. Reranking rarely needs a third read. */
export function createPassageCorpus(options: PassageCorpusOptions) {
  const { passages, meaning, searchesWords, filter, countsAll } = options;
  /** `total` counts all chunks with a query word, if `countsAll`. `found` counts the ones returned. */
  const counts = { total: 0, found: 0 };
  /** Passages that `scoreMissing` has read. */
  const read = new Map<number, StoredPassage>();
  const scoredWords = new Map<number, WordMatch>();

  return {
    counts,
    async find(text: string, depth: number, signal?: AbortSignal): Promise<CorpusMatches> {
      const [query, limit] = [plainQuery(text), Math.max(depth, retrieverCandidates)];
      const words = searchesWords ? { query, limit, offset: 0, filter, counts: countsAll } : undefined;
      let found: FoundPassages | undefined;
      let nearest: MeaningCandidates | undefined;
      let failure: ReturnType<typeof failureOf> | undefined;
      try {
        nearest = await meaning?.find({
          text,
          limit: depth,
          filter: filter.labels === undefined ? undefined : filter,
          async firstRead(nearestRequest) {
            found = await passages.find({ words, nearest: nearestRequest }, { signal });
            return found.vectors ?? Promise.reject(new TypeError('the vectors were not searched'));
          },
          signal: signal ?? new AbortController().signal,
        });
      } catch (error) {
        failure = failureOf(error);
      }
      found ??= await passages.find({ words, nearest: undefined }, { signal });
      const { hits = [], total = 0, scoreMax = 0 } = found.words ?? {};
      Object.assign(counts, { total, found: hits.length });
      const byWords = matchesOf(
        hits.map(({ key, score, coverage }) => ({ id: key, score, coverage })),
        scoreMax,
      );
      return {
        words: byWords,
        failure,
        corrected: found.words?.corrected ?? [],
        async scoreMissing() {
          const scored =
            nearest && 'scored' in nearest.candidates ? bestOfOwners(nearest.candidates.scored, depth) : [];
          const keys = [...new Set([...byWords.slice(0, wordMatchesRead), ...scored].map(({ id }) => id))];
          const request = { keys, query, vectors: nearest && vectorsOf(nearest, byWords, depth), ownersMax: 2 * depth };
          const completed = await passages.complete(request, { signal });
          for (const passage of completed.passages) read.set(passage.key, passage);
          const matches = completed.words ? wordMatches(completed.words) : [];
          for (const match of matches) scoredWords.set(match.id, match);
          return {
            words: searchesWords ? matches : undefined,
            meaning: nearest && meaningScores(nearest, byWords, depth, completed.scored),
          };
        },
      };
    },
    /** Returns the dependencies for reranking chunks by their text, with title and headings. */
    rerankDeps: (reranker: Reranker) => ({
      reranker,
      words: {
        async score(text: string, ids: readonly number[], signal?: AbortSignal): Promise<WordMatch[]> {
          const unread = ids.filter((id) => !read.has(id));
          const more =
            unread.length === 0
              ? []
              : wordMatches(await passages.scoreWords({ query: plainQuery(text), keys: unread }, { signal }));
          return [...ids.flatMap((id) => scoredWords.get(id) ?? []), ...more];
        },
      },
      async texts(ids: readonly number[], signal?: AbortSignal): Promise<Map<number, TextToRerank>> {
        const unread = ids.filter((id) => !read.has(id));
        const more = unread.length === 0 ? [] : await passages.get(unread, { signal });
        const found = [...ids.flatMap((id) => read.get(id) ?? []), ...more];
        return new Map(
          found.map(({ key, title, headings, body }) => {
            const heading = [title, ...headings].filter((part) => part !== '').join(' / ');
            return [key, { text: body, prefix: heading && `${heading}\n` }];
          }),
        );
      },
    }),
  };

  function meaningScores(
    meaningCandidates: MeaningCandidates,
    byWords: readonly WordMatch[],
    depth: number,
    scored: readonly ScoredVector[],
  ): MeaningScores {
    const { candidates, pending, model } = meaningCandidates;
    const nearest = bestOfOwners(candidateVectors(candidates, scored), depth);
    const wordOnlyIds = new Set(idsMissingFrom(nearest, byWords));
    const wordOnly = bestOfOwners(
      scored.filter(({ owner }) => wordOnlyIds.has(owner)),
      Math.max(1, wordOnlyIds.size),
    );
    return { nearest, wordOnly, pending, span: cosineSpanOf(model) };
  }
}

/** Returns the vectors to score: candidates without exact scores, and the vectors of word matches. */
function vectorsOf(
  { candidates, keysOf, vector: query, model }: MeaningCandidates,
  byWords: readonly WordMatch[],
  depth: number,
): CompletePassages['vectors'] {
  const ids = byWords.map(({ id }) => id);
  if ('keys' in candidates) return { query, keys: [...new Set([...candidates.keys, ...(keysOf?.(ids) ?? [])])] };
  const allowed = idsMissingFrom(bestOfOwners(candidates.scored, depth), byWords);
  return allowed.length === 0 ? undefined : { model, query, limit: allowed.length, allowed };
}

function candidateVectors(
  candidates: MeaningCandidates['candidates'],
  scored: readonly ScoredVector[],
): readonly ScoredVector[] {
  if ('scored' in candidates) return candidates.scored;
  const keys = new Set(candidates.keys);
  return scored.filter(({ key }) => keys.has(key));
}
