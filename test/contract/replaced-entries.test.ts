import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { silentLogger } from '../../src/base/log.ts';
import { createReranker } from '../../src/search/rerank/reranker.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { localUser } from '../../src/tools/call.ts';
import { contextSlice } from '../../src/toolsets/context/context-slice.ts';
import { createContextToolset } from '../../src/toolsets/context/toolset.ts';
import { onEachBackend } from '../support/backends.ts';

/** Prefers older entries: it scores any report of a change as irrelevant. */
const reranker = () =>
  createReranker({
    provider: {
      name: 'test',
      device: undefined,
      score: async (_, passages) => passages.map((passage) => (/changed|Make it/.test(passage) ? -9 : 3)),
      close: async () => {},
    },
    weight: 1,
    calibration: [{ features: ['logit'], intercept: 0, weights: [1], onTopicMin: 0.5 }],
  });

const defaults = Object.entries(contextSlice.fields).map(([name, field]) => [name, field.default]);
const config = Object.fromEntries(defaults);

interface Found {
  readonly results: readonly { id: number; relevance: number; replaces?: number; replaced_by?: number }[];
}

function toolsOn(storage: Storage, signal: AbortSignal) {
  const toolset = createContextToolset(config, {
    storage,
    embeddings: undefined,
    reranker: reranker(),
    log: silentLogger,
  });
  const call = { caller: { ...localUser, id: 'test', owner: 'test' }, signal, report: () => {}, log: silentLogger };
  const run = async <Answer>(name: string, input: object): Promise<Answer> => {
    const tool = toolset.tools.find((each) => each.name === name);
    assert.ok(tool);
    return (await tool.run(tool.input.parse(input), call)) as Answer;
  };
  const store = async (thread_id: string, text: string, more: object = {}) =>
    (await run<{ context_id: number }>('store_context', { thread_id, source: 'agent', text, ...more })).context_id;
  const search = async (query: string, more: object = {}, tool = 'hybrid_search_context') =>
    (await run<Found>(tool, { query, ...more })).results.map(({ id, replaces, replaced_by: replacedBy }) => [
      id,
      ...(replaces === undefined ? [] : [`replaces ${replaces}`]),
      ...(replacedBy === undefined ? [] : [`replaced by ${replacedBy}`]),
    ]);
  const found = async (query: string) => {
    const source = toolset.sources?.find(({ name }) => name === 'context');
    const { hits = [] } = (await source?.search({ query, limit: 5, includesWeak: false }, call)) ?? {};
    return hits.map(({ uri, replaces, replaced_by: replacedBy }) =>
      [uri, replaces, replacedBy].map((each) => each?.split('/').at(-1)),
    );
  };
  return { run, store, search, found, close: () => toolset.close?.() };
}

onEachBackend('an entry that replaces another', (backend) => {
  let storage: Storage;
  let seconds = 0;
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  before(async () => {
    storage = await backend.open({ now: () => at(seconds++) });
  });

  test('ranks first in every search, even if the model disagrees, but not before it was stored', async ({ signal }) => {
    const { store, search, found, close } = toolsOn(storage, signal);
    const upload = await store('uploads', 'Decision: the upload limit is 100 MB per file.');
    const rate = await store('api', 'Decision: the rate limit is 100 requests per minute.');
    const between = at(seconds++).toISOString();
    const changed = await store('later', 'Decision changed: the upload limit is now 250 MB per file.');
    const current = [changed, `replaces ${upload}`];
    const former = [upload, `replaced by ${changed}`];
    assert.deepEqual(await search('upload limit'), [current, former, [rate]]);
    assert.deepEqual(await search('upload limit', { mode: 'match' }, 'fts_search_context'), [current, former]);
    assert.deepEqual((await found('upload limit')).slice(0, 2), [
      [changed, upload, undefined].map((id) => id?.toString()),
      [upload, undefined, changed].map((id) => id?.toString()),
    ]);
    assert.deepEqual(await search('upload limit', { as_of: between }), [[upload], [rate]]);
    assert.deepEqual(await search('upload limit', { thread_id: 'uploads' }), [[upload]]);
    await storage.entries.remove({ ids: [upload, rate, changed], dryRun: false });
    await close();
  });

  test('can be declared, is found with what it replaces, and can be undone', async ({ signal }) => {
    const { run, store, search, close } = toolsOn(storage, signal);
    const first = await store('uploads', 'The upload limit is 100 MB.');
    const second = await store('uploads', 'Make it 250.', {
      replaces: first,
      metadata: { references: { files: ['a'] } },
    });
    assert.deepEqual(await search('upload limit'), [
      [second, `replaces ${first}`],
      [first, `replaced by ${second}`],
    ]);
    const third = await store('uploads', 'Make it 300.');
    await run('update_context', { context_id: third, replaces: second });
    assert.deepEqual(await search('upload limit'), [
      [third, `replaces ${second}`],
      [second, `replaces ${first}`, `replaced by ${third}`],
      [first, `replaced by ${third}`],
    ]);
    await run('delete_context', { context_ids: [second, third] });
    assert.deepEqual(await search('upload limit'), [[first]]);
    await assert.rejects(
      store('uploads', 'Make it 400.', { replaces: second }),
      /replaces: context entry with ID \d+ not found/,
    );
    await assert.rejects(run('update_context', { context_id: first, replaces: first }), /cannot replace itself/);
    const { results } = await run<{ results: { error: string | null }[] }>('store_context_batch', {
      atomic: false,
      entries: [first, 4_711].map((replaces, at) => ({
        thread_id: 'b',
        source: 'user',
        text: `Make it ${at}.`,
        replaces,
      })),
    });
    assert.deepEqual(
      results.map(({ error }) => error),
      [null, 'replaces: context entry with ID 4711 not found'],
    );
    await close();
  });
});
