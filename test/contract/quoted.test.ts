import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { searchDocuments } from '../../src/engine/local/search-documents.ts';
import type { EmbeddingProvider } from '../../src/search/models/embedding-provider.ts';
import { rerankerWithoutModel } from '../../src/search/rerank/open-reranker.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { localUser } from '../../src/tools/call.ts';
import { contextSlice } from '../../src/toolsets/context/context-slice.ts';
import { createContextToolset } from '../../src/toolsets/context/toolset.ts';
import { onEachBackend } from '../support/backends.ts';
import { passageWriter } from '../support/passages.ts';

const texts = ['Parental leave takes sixteen weeks.', 'Parents leave at noon.', 'Leave for parental reasons.'];

const provider: EmbeddingProvider = {
  name: 'local:carrel-embedding-1',
  dimensions: 2,
  embed: async (given) => given.map(() => new Float32Array([1, 0])),
  close: async () => {},
};

const phrase = '"parental leave" reasons';

onEachBackend('a phrase in quotes is exact', (backend) => {
  let storage: Storage;
  before(async () => {
    storage = await backend.open();
  });

  test('in every search of the memory', async ({ signal }) => {
    const defaults = Object.entries(contextSlice.fields).map(([name, field]) => [name, field.default]);
    const toolset = createContextToolset(Object.fromEntries(defaults), {
      storage,
      embeddings: provider,
      log: silentLogger,
    });
    const call = { caller: { ...localUser, id: 'test', owner: 'test' }, signal, report: () => {}, log: silentLogger };
    const run = async (name: string, input: object) => {
      const tool = toolset.tools.find((each) => each.name === name);
      assert.ok(tool);
      return (await tool.run(tool.input.parse(input), call)) as { results?: { text_content: string }[] };
    };
    for (const text of texts) await run('store_context', { thread_id: text, source: 'user', text });
    const found = async (name: string, query: string, more: object = {}) =>
      (await run(name, { query, ...more })).results?.map(({ text_content: text }) => text);
    assert.equal((await found('hybrid_search_context', 'parental leave', { include_weak: true }))?.length, 3);
    assert.deepEqual(await found('hybrid_search_context', phrase), texts.slice(0, 1));
    assert.deepEqual(await found('semantic_search_context', phrase, { include_weak: true }), texts.slice(0, 1));
    assert.deepEqual(await found('fts_search_context', '"parental leave" weeks'), texts.slice(0, 1));
    assert.deepEqual(await found('fts_search_context', '"leave parental" sixteen weeks'), []);
    assert.deepEqual(await found('fts_search_context', '"parental leave" sixt', { mode: 'prefix' }), texts.slice(0, 1));
    assert.deepEqual(await found('fts_search_context', phrase, { mode: 'boolean' }), []);
    await toolset.close?.();
  });

  test('in documents and notes', async ({ signal }) => {
    const passage = (body: string, at: number) => ({ id: `a-${at}`, title: '', headings: [], body, labels: [] });
    await passageWriter(storage).replace([{ parent: 'a', passages: texts.map(passage) }]);
    const asked = {
      top: 5,
      tags: [],
      scopedTo: undefined,
      docType: undefined,
      threshold: undefined,
      includesWeak: true,
    };
    const search = async (query: string) => {
      const request = { ...asked, query, mode: 'hybrid', neighbours: 0, offset: 0, signal } as const;
      const deps = { storage, meaning: undefined, reranker: rerankerWithoutModel() };
      return (await searchDocuments(request, deps)).results.map(({ text }) => text);
    };
    assert.equal((await search('parental leave')).length, 3);
    assert.deepEqual(await search(phrase), texts.slice(0, 1));
    for (const content of texts) {
      await storage.notes.save({ title: 'Note', content, tags: [], sourceUrls: [] });
    }
    const { notes } = await storage.notes.list({ query: phrase, limit: 5, offset: 0 });
    assert.deepEqual(
      notes.map(({ snippet }) => snippet?.text),
      texts.slice(0, 1),
    );
  });
});
