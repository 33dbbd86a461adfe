import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLogger } from '../../src/base/log.ts';
import { type DocumentSearch, searchDocuments } from '../../src/engine/local/search-documents.ts';
import { createMeaning } from '../../src/search/meaning/meaning.ts';
import type { EmbeddingProvider } from '../../src/search/models/embedding-provider.ts';
import { rerankerWithoutModel } from '../../src/search/rerank/open-reranker.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { localUser } from '../../src/tools/call.ts';
import { contextSlice } from '../../src/toolsets/context/context-slice.ts';
import { createContextToolset } from '../../src/toolsets/context/toolset.ts';
import { onEachBackend } from '../support/backends.ts';

const provider: EmbeddingProvider = {
  name: 'local:carrel-embedding-1',
  dimensions: 2,
  embed: async (texts) => texts.map((text) => new Float32Array([text.length % 2, 1])),
  close: async () => {},
};

onEachBackend('the reads of a search', (backend) => {
  let storage: Storage;
  before(async () => {
    storage = await backend.open();
  });

  test('kb_search makes three reads: find, complete, hits', async ({ signal }) => {
    for (const number of [1, 2, 3, 4]) await storeDocument(storage, number);
    const meaning = createMeaning({ vectors: storage.vectors.kb, provider, log: silentLogger });
    meaning.wake();
    await embedded(() => storage.vectors.kb.state({ model: provider.name }));
    const search = (more: Partial<DocumentSearch>) =>
      searchDocuments(
        {
          ...{ query: 'animals of the forest', top: 3, tags: [], scopedTo: undefined, docType: undefined },
          ...{ mode: 'hybrid', threshold: undefined, includesWeak: true, neighbours: 0, offset: 0, signal },
          ...more,
        },
        { storage, meaning, reranker: rerankerWithoutModel() },
      );
    // Loads the vectors into memory, if the backend does so.
    await search({});
    const variants: Partial<DocumentSearch>[] = [{}, { tags: ['even'] }, { mode: 'words' }, { mode: 'meaning' }];
    for (const more of variants) {
      const before = storage.metrics.calls;
      const { results } = await search(more);
      assert.ok(results.length > 0);
      assert.ok(
        storage.metrics.calls - before <= 3,
        `${storage.metrics.calls - before} reads: ${JSON.stringify(more)}`,
      );
    }
    await meaning.close();
  });

  test('hybrid_search_context makes at most nine reads', async ({ signal }) => {
    const defaults = Object.entries(contextSlice.fields).map(([name, field]) => [name, field.default]);
    const toolset = createContextToolset(Object.fromEntries(defaults), {
      storage,
      embeddings: provider,
      log: silentLogger,
    });
    const call = { caller: { ...localUser, id: 'test', owner: 'test' }, signal, report: () => {}, log: silentLogger };
    const run = async (name: string, input: object): Promise<unknown> => {
      const tool = toolset.tools.find((each) => each.name === name);
      assert.ok(tool);
      return tool.run(tool.input.parse(input), call);
    };
    for (const place of ['forest', 'sea', 'desert']) {
      await run('store_context', { thread_id: place, source: 'user', text: `Animals that live in the ${place}.` });
    }
    await embedded(() => storage.vectors.context.state({ model: provider.name }));
    const search = () => run('hybrid_search_context', { query: 'animals of the forest', include_weak: true });
    await search();
    const before = storage.metrics.calls;
    await search();
    assert.ok(storage.metrics.calls - before <= 9, `${storage.metrics.calls - before} reads`);
    await toolset.close?.();
  });
});

async function storeDocument({ ingestion }: Storage, number: number): Promise<void> {
  const text = `Page ${number} tells of animals that live in the forest.`;
  const own = { contentType: 'text/plain', title: `Page ${number}`, docType: 'text' };
  await ingestion.accept({
    ...{ ...own, filename: 'page.txt', sourcePath: undefined, tags: number % 2 === 0 ? ['even'] : [] },
    content: { note: text, hash: String(number).padStart(64, '0'), bytes: text.length },
  });
  const job = await ingestion.claim({ owner: 'test', leaseMs: 60_000 });
  assert.ok(job);
  const chunks = [{ text, headings: [], metadata: {} }];
  await ingestion.finish({ ...own, id: job.id, owner: 'test', language: undefined, details: {}, chunks });
}

async function embedded(state: () => Promise<{ isChosen: boolean; pending: number }>): Promise<void> {
  for (let { isChosen, pending } = await state(); !isChosen || pending > 0; { isChosen, pending } = await state())
    await delay(20);
}
