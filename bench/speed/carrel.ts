import { statSync } from 'node:fs';
import { silentLogger } from '../../src/base/log.ts';
import { searchDocuments } from '../../src/engine/local/search-documents.ts';
import { createMeaning } from '../../src/search/meaning/meaning.ts';
import { rerankerWithoutModel } from '../../src/search/rerank/open-reranker.ts';
import type { Reranker } from '../../src/search/rerank/reranker.ts';
import type { PassageFilter } from '../../src/storage/passages/passage.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { parseBooleanQuery } from '../../src/words/boolean-query.ts';
import { plainQuery, prefixQuery, type WordQuery } from '../../src/words/word-query.ts';
import { passageWriter } from '../../test/support/passages.ts';
import { frequentWords, queryOf } from './rows.ts';
import { dimensions, queryVectorOf, vectorOf } from './vectors.ts';

export type CarrelOnSqlite = Awaited<ReturnType<typeof openCarrel>>;

/** Carrel's own code for writing and searching on any database, with a fake embedding model that takes no time. */
export type CarrelUnderTest = ReturnType<typeof openCarrelOn>;

export const model = 'synthetic vectors';

export async function openCarrel(path: string) {
  const storage = await createSqliteStorage({ path, queryTimeoutMs: 60_000 });
  return { ...openCarrelOn(storage), bytes: () => statSync(path).size };
}

export function openCarrelOn(storage: Storage, reranker: Reranker = rerankerWithoutModel()) {
  const meaning = createMeaning<PassageFilter>({
    vectors: storage.vectors.kb,
    provider: {
      name: model,
      dimensions,
      embed: async (texts) => texts.map((text) => queryVectorOf(Number(text.split(' ')[0]?.slice(1)))),
      close: async () => {},
    },
    log: silentLogger,
    waitForAllMax: 0,
  });
  const signal = new AbortController().signal;
  return {
    insert: passageWriter(storage).replace,
    /** Embeds up to `limit` rows, like the background job. Returns how many were embedded. */
    async insertVectors(limit: number): Promise<number> {
      const { vectors } = storage;
      await vectors.kb.choose({ model });
      const texts = await vectors.kb.waiting({ model, limit });
      return vectors.kb.put({
        model,
        texts: texts.map(({ owner, textHash, text }) => ({
          owner,
          textHash,
          windows: [{ start: 0, end: text.length, vector: vectorOf(owner - 1) }],
        })),
      });
    },
    words: (number: number, limit: number, filter?: PassageFilter) =>
      storage.passages.search({ query: plainQuery(queryOf(number).join(' ')), filter, limit, offset: 0 }),
    meaning: (number: number, limit: number, filter?: PassageFilter) =>
      meaning.search({ text: textOf(number), limit, filter, signal }),
    hybrid: (number: number, limit: number, tags: readonly string[] = []) =>
      searchDocuments(
        {
          query: textOf(number),
          top: limit,
          tags,
          docType: undefined,
          scopedTo: undefined,
          mode: 'hybrid',
          threshold: undefined,
          includesWeak: true,
          neighbours: 0,
          offset: 0,
          signal,
        },
        { storage, meaning, reranker },
      ),
    search: (query: WordQuery, limit: number) => storage.passages.search({ query, limit, offset: 0 }),
    slowestQueries,
    async close() {
      await meaning.close();
      await storage.close();
    },
  };
}

/** Returns expensive queries: as many of the commonest words, prefixes and phrases as the query language allows. */
function slowestQueries(): Record<string, WordQuery> {
  const phrases = Array.from({ length: 8 }, (_, at) => `"${frequentWords(3, at).join(' ')}"`);
  const longPhrases = Array.from({ length: 8 }, (_, at) => `"${frequentWords(4, at).join(' ')}"`);
  const [firstWords, secondWords] = [frequentWords(16), frequentWords(16, 12)];
  return {
    'a sentence of 48 words': plainQuery(frequentWords(48, 60).join(' ')),
    'any of 32 words': parseBooleanQuery(frequentWords(32).join(' OR ')).query,
    'all of 20 words': parseBooleanQuery(frequentWords(20).join(' AND ')).query,
    'any of 16 and any of 16': parseBooleanQuery(`(${firstWords.join(' OR ')}) AND (${secondWords.join(' OR ')})`)
      .query,
    '8 phrases of three words': parseBooleanQuery(phrases.join(' OR ')).query,
    '8 phrases of four words': parseBooleanQuery(longPhrases.join(' OR ')).query,
    'any of 5 prefixes': parseBooleanQuery('sa* OR bal* OR mam* OR ser* OR fad*').query,
    'all of 5 prefixes': prefixQuery('sa the bal mam ser'),
    'one word and none of 31': parseBooleanQuery(`the NOT (${frequentWords(31, 60).join(' OR ')})`).query,
  };
}

/** Returns the query's number and its words. The fake model looks up the vector by the number. */
function textOf(number: number): string {
  return `q${number} ${queryOf(number).join(' ')}`;
}
