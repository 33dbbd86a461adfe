import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/base/log.ts';
import { createPassageCorpus } from '../../src/engine/local/passage-corpus.ts';
import { createMeaning } from '../../src/search/meaning/meaning.ts';
import type { EmbeddingProvider } from '../../src/search/models/embedding-provider.ts';
import type { SearchCorpus } from '../../src/search/rank/corpus.ts';
import type { RerankDeps } from '../../src/search/rank/rerank-page.ts';
import {
  createMeaningRetriever,
  createRetrieverCorpus,
  createWordRetriever,
  type MeaningRetriever,
  type WordRetriever,
} from '../../src/search/rank/retrievers.ts';
import { rerankerWithoutModel } from '../../src/search/rerank/open-reranker.ts';
import type { Reranker } from '../../src/search/rerank/reranker.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createRerankDeps } from '../../src/toolsets/context/search/entry-reranking.ts';
import { createTextThread } from '../../src/toolsets/context/search/text-thread.ts';
import type { DataSet } from './data-set.ts';

/** One data set in its own database, stored and searched as in the product. The retrievers are keyword search and vector search. */
export interface ProductRetrievers {
  /** Returns the two searches, limited to the passages of a group. Results have the database's ids. */
  forGroup(group: string): Retrievers;
  /** Returns the index of the passage that has this database id. */
  passageOf(id: number): number;
  close(): Promise<void>;
}

export interface Retrievers {
  /** The stored passages. */
  corpus: SearchCorpus;
  words: WordRetriever;
  /** Undefined without embeddings. */
  meaning: MeaningRetriever | undefined;
  rerankDeps: RerankDeps;
}

/** A new database, and a function that removes it. */
export interface BenchStorage {
  readonly storage: Storage;
  remove(): Promise<void>;
}

export async function createSqlite(): Promise<BenchStorage> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const storage = await createSqliteStorage({ path: join(folder, 'quality.db'), queryTimeoutMs: 60_000 });
  return { storage, remove: async () => rmSync(folder, { recursive: true, force: true }) };
}

export async function createProductRetrievers(
  set: DataSet,
  embeddings: EmbeddingProvider | undefined,
  reranker: Reranker = rerankerWithoutModel(),
  createStorage: () => Promise<BenchStorage> = createSqlite,
): Promise<ProductRetrievers> {
  const { storage, remove } = await createStorage();
  const isThreaded = set.passages.some(({ previous }) => previous !== undefined);
  const stored = await (isThreaded ? storeEntries : storePassages)(set, storage, embeddings, reranker);
  return {
    forGroup: stored.forGroup,
    passageOf: (id) => stored.passageById.get(id) ?? -1,
    async close() {
      await stored.close();
      await storage.close();
      await remove();
    },
  };
}

interface Stored {
  passageById: Map<number, number>;
  forGroup(group: string): Retrievers;
  close(): Promise<void>;
}

const batchSize = 200;

/** Stores conversations as memory: an entry per turn, a thread per conversation. */
async function storeEntries(
  set: DataSet,
  storage: Storage,
  provider: EmbeddingProvider | undefined,
  reranker: Reranker,
): Promise<Stored> {
  const threads = createTextThread();
  const passageById = new Map<number, number>();
  for (let at = 0; at < set.passages.length; at += batchSize) {
    const entries = set.passages.slice(at, at + batchSize).map(({ text, group }, index) => ({
      threadId: group,
      source: (at + index) % 2 === 0 ? ('user' as const) : ('agent' as const),
      text,
      metadata: undefined,
      tags: [],
      images: [],
      summary: undefined,
    }));
    const outcomes = await storage.entries.store({ entries });
    outcomes.forEach(({ id }, index) => {
      passageById.set(id, at + index);
    });
  }
  const vectors = storage.vectors.context;
  const meaning = provider && createMeaning({ vectors, provider, log: silentLogger });
  if (meaning) await whenEmbedded(meaning, () => vectors.state({ model: meaning.model }));
  return {
    passageById,
    forGroup(group) {
      const filter = { threadId: group };
      const retrievers = {
        words: createWordRetriever({
          search: (request, options) => storage.entries.searchWords({ ...request, filter, explain: false }, options),
          scoreWords: (request, options) => storage.entries.scoreWords(request, options),
        }),
        meaning: meaning && createMeaningRetriever({ meaning, filter }),
      };
      return {
        ...retrievers,
        corpus: createRetrieverCorpus(retrievers),
        rerankDeps: createRerankDeps({ entries: storage.entries, reranker, texts: threads }, { filter: {} }),
      };
    },
    close: async () => void (await Promise.all([meaning?.close(), threads.close()])),
  };
}

/** Stores any other set as a knowledge base: one document of one chunk per passage, with its title. */
async function storePassages(
  set: DataSet,
  storage: Storage,
  provider: EmbeddingProvider | undefined,
  reranker: Reranker,
): Promise<Stored> {
  const kb = storage.passages;
  const passageById = new Map<number, number>();
  for (const [number, { title, text }] of set.passages.entries()) {
    const hash = String(number).padStart(64, '0');
    for (const { key } of await storeDocument(storage, hash, title, text)) passageById.set(key, number);
  }
  const vectors = storage.vectors.kb;
  const meaning = provider && createMeaning({ vectors, provider, log: silentLogger });
  if (meaning) await whenEmbedded(meaning, () => vectors.state({ model: meaning.model }));
  return {
    passageById,
    forGroup: () => {
      const words = createWordRetriever({
        async search(request, options) {
          const { hits, scoreMax } = await kb.search(request, options);
          return { hits: hits.map(({ key, score, coverage }) => ({ id: key, score, coverage })), scoreMax };
        },
        scoreWords: (request, options) => kb.scoreWords(request, options),
      });
      const corpus = createPassageCorpus({ passages: kb, meaning, searchesWords: true, filter: {}, countsAll: false });
      return {
        corpus,
        words,
        meaning: meaning && createMeaningRetriever({ meaning, filter: undefined }),
        rerankDeps: corpus.rerankDeps(reranker),
      };
    },
    close: async () => meaning?.close(),
  };
}

/** Stores a document without the chunker, which could split the passage. The hash must be unique, because sets repeat texts. */
async function storeDocument({ documents, ingestion }: Storage, hash: string, title: string, text: string) {
  const fields = { contentType: 'text/plain', title, docType: 'text' };
  await ingestion.accept({
    ...fields,
    filename: 'passage.txt',
    sourcePath: undefined,
    tags: [],
    content: { note: text, hash, bytes: text.length },
  });
  const owner = 'bench';
  const job = await ingestion.claim({ owner, leaseMs: 60_000 });
  if (job === undefined) throw new Error(`passage ${hash} was not accepted`);
  const chunks = [{ text, headings: [], metadata: {} }];
  const finished = await ingestion.finish({ ...fields, id: job.id, owner, language: undefined, details: {}, chunks });
  if (finished.outcome !== 'done') throw new Error(`passage ${hash} was not stored: ${finished.outcome}`);
  return documents.chunks({ document: finished.documentId });
}

async function whenEmbedded(meaning: { wake(): void }, state: () => Promise<{ isChosen: boolean; pending: number }>) {
  meaning.wake();
  for (;;) {
    const { isChosen, pending } = await state();
    if (isChosen && pending === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
