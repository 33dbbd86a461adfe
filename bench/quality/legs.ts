import { looksLikeCode } from '../../src/search/code-shape.ts';
import type { EmbeddingProvider } from '../../src/search/embeddings/embedding-provider.ts';
import type { MeaningMatch, WordMatch } from '../../src/search/fusion.ts';
import type { HybridDeps } from '../../src/search/hybrid.ts';
import { embedPassages } from '../../src/search/passage-vectors.ts';
import { dotProduct } from '../../src/search/vectors/quantise.ts';
import { createVectorIndex, type VectorIndex } from '../../src/search/vectors/vector-index.ts';
import {
  createScorer,
  type DocumentTerms,
  highestScore,
  type IndexStatistics,
  matchedLeaves,
} from '../../src/words/bm25.ts';
import { documentTermsOf } from '../../src/words/document-terms.ts';
import { leafKey, leavesOf, plainQuery, type WordLeaf } from '../../src/words/word-query.ts';
import type { BenchPassage, DataSet } from './data-set.ts';

/** Both legs over one data set, built from the product's own analyser, scorer, passage vectors and vector index. */
export interface BenchLegs {
  /** What a query of this group may see. */
  forGroup(group: string): HybridDeps;
  close(): Promise<void>;
}

export async function createBenchLegs(set: DataSet, embeddings: EmbeddingProvider | undefined): Promise<BenchLegs> {
  const words = createWordsOf(set.passages);
  const meaning = embeddings ? await createMeaningOf(set.passages, embeddings) : undefined;
  return {
    forGroup: (group) => ({ words: words(group), meaning: meaning ? meaning.forGroup(group) : noMeaning }),
    close: async () => meaning?.close(),
  };
}

const noMeaning: HybridDeps['meaning'] = {
  embed: async () => new Float32Array(),
  search: async () => [],
  score: async () => [],
};

/** Candidates come from an inverted index in memory; the databases' full text does the same in the product. */
function createWordsOf(passages: readonly BenchPassage[]): (group: string) => HybridDeps['words'] {
  const documents = passages.map(
    ({ title, text }): DocumentTerms => documentTermsOf({ title, heading: '', body: text }),
  );
  const postings = new Map<string, number[]>();
  documents.forEach(({ title, body }, number) => {
    for (const term of new Set([title.main, title.extra, body.main, body.extra].join(' ').split(' '))) {
      const list = postings.get(term);
      if (list) list.push(number);
      else postings.set(term, [number]);
    }
  });
  const mean = (field: keyof DocumentTerms) =>
    documents.reduce((sum, document) => sum + document[field].length, 0) / Math.max(1, documents.length);
  const statistics: IndexStatistics = {
    documents: documents.length,
    averageLengths: { title: mean('title'), heading: mean('heading'), body: mean('body') },
  };
  const holding = (leaf: WordLeaf): number[] => {
    if (leaf.kind === 'term') return postings.get(leaf.term) ?? [];
    if (leaf.kind === 'phrase') return [];
    const found = [...postings].filter(([term]) => term.startsWith(leaf.prefix)).flatMap(([, numbers]) => numbers);
    return [...new Set(found)];
  };

  // Several runs ask the same of one query after the other; what was worked out for it is kept until the next one.
  let last: PreparedQuery | undefined;
  const prepared = (text: string): PreparedQuery => {
    if (last?.text === text) return last;
    const leaves = leavesOf(plainQuery(text));
    const holders = leaves.map(holding);
    const counts = new Map(leaves.map((leaf, index) => [leafKey(leaf), holders[index]?.length ?? 0]));
    const score = createScorer(leaves, counts, statistics);
    const highest = highestScore(leaves, counts, statistics);
    const shares = new Map([...new Set(holders.flat())].map((id) => [id, score(documents[id] ?? nothing) / highest]));
    last = { text, leaves, shares };
    return last;
  };
  return (group) => {
    const match = (text: string, ids: readonly number[], limit: number): WordMatch[] => {
      const { leaves, shares } = prepared(text);
      return ids
        .map((id) => ({ id, share: shares.get(id) ?? 0 }))
        .filter(({ share }) => share > 0)
        .sort((left, right) => right.share - left.share || left.id - right.id)
        .slice(0, limit)
        .map((each) => ({ ...each, terms: matchedLeaves(leaves, documents[each.id] ?? nothing) }));
    };
    return {
      search: async (text, limit) => {
        const visible = [...prepared(text).shares.keys()].filter((number) => passages[number]?.group === group);
        return match(text, visible, limit);
      },
      score: async (text, ids) => match(text, ids, ids.length),
    };
  };
}

interface PreparedQuery {
  text: string;
  leaves: WordLeaf[];
  /** By passage; those without any of the words are left out. */
  shares: Map<number, number>;
}

const nothing: DocumentTerms = documentTermsOf({ title: '', heading: '', body: '' });

interface StoredWindow {
  passage: number;
  start: number;
  end: number;
  vector: Float32Array;
}

async function createMeaningOf(passages: readonly BenchPassage[], embeddings: EmbeddingProvider) {
  const windowsOfPassage = await embedPassages(
    passages.map(({ text, title, before }) => ({
      text,
      titlePath: title === '' ? [] : [title],
      ...(before === undefined ? {} : { before: passages[before]?.text ?? '' }),
    })),
    embeddings,
  );
  const windows: StoredWindow[] = windowsOfPassage.flatMap((all, passage) =>
    all.map((window) => ({ passage, ...window })),
  );
  const groups = new Map([...new Set(passages.map(({ group }) => group))].map((group, number) => [group, number]));
  const index: VectorIndex = createVectorIndex(
    { dimensions: embeddings.dimensions ?? 0, threads: 1, vectorsMax: 1_000_000 },
    {
      readVectors: async (ids) =>
        new Map(ids.flatMap((id) => (windows[id] ? [[id, windows[id].vector] as const] : []))),
    },
  );
  windows.forEach(({ passage, vector }, id) => {
    index.set(id, vector, groups.get(passages[passage]?.group ?? '') ?? -1);
  });

  const isCode = passages.map(({ text }) => looksLikeCode(text));
  const best = (query: Float32Array, ids: readonly number[], limit: number) => {
    const nearest = new Map<number, MeaningMatch>();
    for (const windowId of ids) {
      const window = windows[windowId];
      if (!window) continue;
      const cosine = dotProduct(query, window.vector);
      const known = nearest.get(window.passage);
      if (known && known.cosine >= cosine) continue;
      const { passage: id, start, end } = window;
      nearest.set(id, { id, cosine, window: { start, end }, code: isCode[id] ?? false });
    }
    return [...nearest.values()]
      .sort((left, right) => right.cosine - left.cosine || left.id - right.id)
      .slice(0, limit);
  };
  const idsOfPassage = new Map<number, number[]>();
  windows.forEach(({ passage }, id) => {
    idsOfPassage.set(passage, [...(idsOfPassage.get(passage) ?? []), id]);
  });

  return {
    forGroup: (group: string): HybridDeps['meaning'] => ({
      embed: async (text) => (await embeddings.embed([text], { purpose: 'query' }))[0] ?? new Float32Array(),
      search: async (query, limit) => {
        const filter = { groups: new Set([groups.get(group) ?? -1]) };
        const found = await index.search(query, { limit: limit * 3, ...(groups.size > 1 ? { filter } : {}) });
        return best(
          query,
          found.map(({ id }) => id),
          limit,
        );
      },
      score: async (query, ids) =>
        best(
          query,
          ids.flatMap((id) => idsOfPassage.get(id) ?? []),
          ids.length,
        ),
    }),
    close: () => index.close(),
  };
}
