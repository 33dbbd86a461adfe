import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../../base/log.ts';
import { hit } from '../../../engine/contract/answers.ts';
import { type Call, localUser } from '../../../tools/call.ts';
import { createDocumentSource } from './document-source.ts';

const call: Call = {
  caller: { ...localUser, id: 'a', owner: 'a' },
  signal: new AbortController().signal,
  report() {},
  log: silentLogger,
};

/** Searches an engine that finds these chunks: `[document, relevance]`, best first. */
async function search(chunks: readonly (readonly [number, number | undefined])[]) {
  const results = chunks.map(([document_id, relevance], chunk_id) =>
    hit.parse({ document_id, chunk_id, chunk_index: chunk_id, relevance, text: 'some text' }),
  );
  const source = createDocumentSource({ search: async () => ({ query: 'q', results, total_matches: 9, returned: 9 }) });
  const { hits } = await source.search({ query: 'q', limit: 10, includesWeak: false }, call);
  return hits.map(({ uri, relevance, chunk_index: chunk }) => [uri, relevance, chunk]);
}

test('contract §8: a document is as relevant as the chance that one of its three best chunks is', async () => {
  const chunks: [number, number][] = [
    [1, 0.4],
    [2, 0.3],
    [2, 0.3],
    [2, 0.3],
    [2, 0.3],
  ];
  assert.deepEqual(await search(chunks), [
    ['carrel://kb/doc/2', 0.657, 1],
    ['carrel://kb/doc/1', 0.4, 0],
  ]);
});

test('an engine without relevance leaves the order as it is', async () => {
  const found = await search([
    [7, undefined],
    [5, undefined],
    [7, undefined],
  ]);
  assert.deepEqual(found, [
    ['carrel://kb/doc/7', undefined, 0],
    ['carrel://kb/doc/5', undefined, 1],
  ]);
});
