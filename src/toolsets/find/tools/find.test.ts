import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from '../../../base/errors.ts';
import { createLogger, silentLogger } from '../../../base/log.ts';
import { rerankerWithoutModel } from '../../../search/rerank/open-reranker.ts';
import { type Call, localUser } from '../../../tools/call.ts';
import type { SearchSource, SourceAnswer } from '../../../tools/search-source.ts';
import { createFindFilteredTool, createFindTool } from './find.ts';

const call: Call = {
  caller: { ...localUser, id: 'a', owner: 'a' },
  signal: new AbortController().signal,
  report() {},
  log: silentLogger,
};

function source(name: string, search: () => Promise<SourceAnswer>, searchedByDefault = true): SearchSource {
  return { name, description: `The ${name}`, searchedByDefault, search };
}

const hits = (prefix: string, count: number): SourceAnswer => ({
  hits: Array.from({ length: count }, (_, index) => ({
    uri: `${prefix}://${index}`,
    hash: null,
    range: null,
    title: `${prefix} ${index}`,
    snippet: 'some words about it',
    date: null,
    origin: 'user',
    relevance: 0.5,
    why: 'it matches',
  })),
});

interface Found {
  results: { source: string; uri: string; why: string }[];
  sources: { source: string; status: string; hits: number; message?: string }[];
  omitted: number;
}

async function find(sources: SearchSource[], input: Record<string, unknown>): Promise<Found> {
  const tool = createFindTool(sources, rerankerWithoutModel());
  return (await tool.run(tool.input.parse({ query: 'q', explain: true, ...input }), call)) as Found;
}

test('contract §8: distinguishes a failed source from an empty one', async () => {
  const { results: found, sources } = await find(
    [
      source('notes', async () => hits('notes', 0)),
      source('kb', async () => ({ ...hits('kb', 1), degraded: 'words only' })),
      source('context', () => Promise.reject(new CarrelError('unavailable', 'The store is closed.'))),
      source('fess', () => Promise.reject(new Error('secret detail'))),
      source('web', async () => hits('web', 1), false),
    ],
    {},
  );
  assert.deepEqual(
    found.map(({ uri }) => uri),
    ['kb://0'],
  );
  assert.deepEqual(sources.slice(0, 3), [
    { source: 'notes', status: 'searched', hits: 0 },
    { source: 'kb', status: 'degraded', hits: 1, message: 'words only' },
    { source: 'context', status: 'failed', hits: 0, message: 'The store is closed.' },
  ]);
  assert.equal(sources[3]?.status, 'failed');
  assert.match(sources[3]?.message ?? '', /incident/);
  assert.doesNotMatch(sources[3]?.message ?? '', /secret/);
  assert.deepEqual(sources[4], { source: 'web', status: 'skipped', hits: 0 });
});

test('contract §8: searches the web on request, and every hit names its source and reason', async () => {
  const sources = [source('notes', async () => hits('notes', 2)), source('web', async () => hits('web', 2), false)];
  const { results: found, sources: reports } = await find(sources, { sources: ['web'] });
  assert.deepEqual(
    found.map(({ source: from, why }) => [from, why]),
    [
      ['web', 'it matches'],
      ['web', 'it matches'],
    ],
  );
  assert.equal(reports[0]?.status, 'skipped');
});

test('limit and budget_tokens bound the answer, and omissions are counted', async () => {
  const sources = [source('notes', async () => hits('notes', 30)), source('kb', async () => hits('kb', 30))];
  const limited = await find(sources, { limit: 5 });
  assert.equal(limited.results.length, 5);
  assert.equal(limited.omitted, 5);
  const frugal = await find(sources, { limit: 20, budget_tokens: 200 });
  assert.ok(frugal.results.length >= 1 && frugal.results.length < 10, String(frugal.results.length));
  assert.equal(frugal.results.length + frugal.omitted, 40);
});

test('cancelling a call logs no incident for its sources', async () => {
  const controller = new AbortController();
  const logged: string[] = [];
  const log = createLogger([{ level: 'debug', write: ({ event }) => logged.push(event), flush() {} }]);
  const tool = createFindTool([source('slow', () => new Promise(() => {}))], rerankerWithoutModel());
  const running = tool.run(tool.input.parse({ query: 'q' }), { ...call, log, signal: controller.signal });
  controller.abort();
  await assert.rejects(running, { code: 'cancelled' });
  assert.deepEqual(logged, []);
});

test('contract §8: an uncertain hit that is alone in its source ranks below the answer of another source', async () => {
  const one = (prefix: string, relevance: number, logit: number, lead: number): SourceAnswer => ({
    hits: hits(prefix, 1).hits.map((hit) => ({ ...hit, relevance, scores: { logit, lead } })),
  });
  const sources = [
    source('kb', async () => one('kb', 0.6, -3.5, 1.3)),
    source('context', async () => one('context', 0.94, 2, 5)),
  ];
  const relevanceOf = async (some: SearchSource[]) => {
    const { results } = (await find(some, {})) as unknown as { results: { source: string; relevance: number }[] };
    return Object.fromEntries(results.map(({ source: name, relevance }) => [name, relevance]));
  };
  const together = await relevanceOf(sources);
  assert.ok((together['context'] ?? 0) > 0.9, JSON.stringify(together));
  assert.ok((together['kb'] ?? 1) < 0.1, JSON.stringify(together));
  assert.deepEqual(await relevanceOf(sources.slice(0, 1)), { kb: 0.6 });
});

test('an answer without any searched source blames the filters', async () => {
  const tool = createFindFilteredTool([source('web', async () => hits('web', 1))], rerankerWithoutModel());
  const answer = await tool.run(tool.input.parse({ query: 'q', source: 'web', tag: 'urgent' }), call);
  assert.match((answer as { hint: string }).hint, /^None of the chosen sources supports these filters\./);
});
