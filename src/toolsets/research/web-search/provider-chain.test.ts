import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CarrelError } from '../../../base/errors.ts';
import { silentLogger } from '../../../base/log.ts';
import { createProviderChain, type WebSearchAnswer } from './provider-chain.ts';
import { ProviderFailure, type ProviderName, type SearchResult } from './search-provider.ts';

const hit: SearchResult = { title: 'A', url: 'https://a.example/', snippet: 'a' };

/** A chain of scripted providers. Each search returns the script's next outcome; the last one repeats. */
function chainOf(scripts: Partial<Record<ProviderName, (SearchResult[] | ProviderFailure)[]>>, fallback = true) {
  const asked: string[] = [];
  let now = 0;
  const names = Object.keys(scripts) as ProviderName[];
  const providers = names.map((name) => ({
    name,
    async search(): Promise<SearchResult[]> {
      asked.push(name);
      const script = scripts[name] ?? [];
      const next = script.length > 1 ? script.shift() : script[0];
      if (next instanceof ProviderFailure) throw next;
      return next ?? [];
    },
  }));
  const [chosen = 'duckduckgo'] = names;
  const chain = createProviderChain({ chosen, fallback }, { providers, log: silentLogger, clock: () => now });
  return {
    asked,
    pass: (ms: number) => {
      now += ms;
    },
    search: (provider?: ProviderName): Promise<WebSearchAnswer> =>
      chain.search({ query: 'q', limit: 3, provider, signal: new AbortController().signal }),
  };
}

const blocked = (retryAfterSeconds?: number): ProviderFailure =>
  new ProviderFailure('blocked', 'status 429', { status: 429, ...(retryAfterSeconds ? { retryAfterSeconds } : {}) });
const failed = new ProviderFailure('failed', 'status 500', { status: 500 });

test('queries only the chosen provider while it answers', async () => {
  const { search, asked } = chainOf({ duckduckgo: [[hit]], serper: [[hit]] });
  assert.deepEqual(await search(), {
    results: [hit],
    provider: 'duckduckgo',
    attempts: [{ provider: 'duckduckgo', outcome: 'answered' }],
  });
  assert.deepEqual(asked, ['duckduckgo']);
});

test('contract §7: a blocked provider is reported and the next one is tried', async () => {
  const { search } = chainOf({ duckduckgo: [blocked()], searxng: [failed], brave: [[hit]] });
  const { provider, attempts } = await search();
  assert.equal(provider, 'brave');
  assert.deepEqual(attempts, [
    { provider: 'duckduckgo', outcome: 'blocked', status: 429 },
    { provider: 'searxng', outcome: 'failed', status: 500 },
    { provider: 'brave', outcome: 'answered' },
  ]);
});

test('accepts an empty answer without querying other providers', async () => {
  const { search, asked } = chainOf({ duckduckgo: [[]], serper: [[hit]] });
  assert.deepEqual((await search()).results, []);
  assert.deepEqual(asked, ['duckduckgo']);
});

test('a call may name the provider to try first', async () => {
  const { search, asked } = chainOf({ duckduckgo: [[hit]], serper: [failed] });
  assert.equal((await search('serper')).provider, 'duckduckgo');
  assert.deepEqual(asked, ['serper', 'duckduckgo']);
});

test('after a failure, others come first until the back-off ends', async () => {
  const { search, asked, pass } = chainOf({ duckduckgo: [blocked(), [hit]], serper: [[hit]] });
  await search();
  assert.equal((await search()).provider, 'serper');
  pass(29_999);
  assert.equal((await search()).provider, 'serper');
  pass(1);
  assert.equal((await search()).provider, 'duckduckgo');
  assert.deepEqual(asked, ['duckduckgo', 'serper', 'serper', 'serper', 'duckduckgo']);
});

test('consecutive failures double the back-off, and success ends it', async () => {
  const { search, asked, pass } = chainOf({ duckduckgo: [failed, failed, [hit], failed, [hit]], serper: [[hit]] });
  const providerAfter = async (ms: number): Promise<string> => {
    pass(ms);
    return (await search()).provider;
  };
  await search();
  assert.equal(await providerAfter(2_000), 'serper');
  assert.equal(await providerAfter(3_999), 'serper');
  assert.equal(await providerAfter(1), 'duckduckgo');
  await search();
  assert.equal(await providerAfter(2_000), 'duckduckgo');
  assert.equal(asked.filter((name) => name === 'duckduckgo').length, 5);
});

test('retries a failed provider immediately if there is no other', async () => {
  const { search } = chainOf({ duckduckgo: [blocked(), [hit]] });
  await assert.rejects(search(), { code: 'search_failed' });
  assert.equal((await search()).provider, 'duckduckgo');
});

test('does not query a provider during its requested pause', async () => {
  const { search, asked, pass } = chainOf({ duckduckgo: [blocked(20), [hit]] });
  await assert.rejects(search(), { code: 'search_failed' });
  pass(19_000);
  const error: unknown = await search().catch((thrown: unknown) => thrown);
  assert.ok(error instanceof CarrelError);
  assert.deepEqual(error.data['details'], {
    provider: 'duckduckgo',
    reason: 'skipped',
    attempts: [{ provider: 'duckduckgo', outcome: 'skipped' }],
    retryAfter: 11,
  });
  assert.equal(asked.length, 1);
  pass(1_000);
  assert.equal((await search()).provider, 'duckduckgo');
});

test('if none answers, the error describes each attempt', async () => {
  const { search } = chainOf({ duckduckgo: [blocked()], serper: [failed] });
  await assert.rejects(search(), (error: CarrelError) => {
    assert.equal(error.code, 'search_failed');
    assert.match(error.message, /duckduckgo blocks the search.*; serper returned no usable answer/);
    assert.match(error.message, /does not mean that there are no results/);
    return true;
  });
});

test('without fallback, queries only the named provider', async () => {
  const { search, asked } = chainOf({ searxng: [failed], duckduckgo: [[hit]] }, false);
  await assert.rejects(search(), { code: 'search_failed' });
  assert.deepEqual(asked, ['searxng']);
});

test('a cancelled search queries no further provider', async () => {
  const controller = new AbortController();
  const asked: string[] = [];
  const names = ['duckduckgo', 'serper'] as const;
  const providers = names.map((name) => ({
    name,
    async search(): Promise<SearchResult[]> {
      asked.push(name);
      controller.abort();
      throw new Error('aborted');
    },
  }));
  const chain = createProviderChain({ chosen: 'duckduckgo', fallback: true }, { providers, log: silentLogger });
  await assert.rejects(chain.search({ query: 'q', limit: 1, signal: controller.signal }), { code: 'cancelled' });
  assert.deepEqual(asked, ['duckduckgo']);
});
