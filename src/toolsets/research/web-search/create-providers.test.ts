import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import {
  gatewayChallenge,
  instantAnswer,
  searxngAnswer,
  usualResults,
} from '../../../../test/fakes/search-providers/search-pages.ts';
import {
  type Behaviour,
  type FakeProvider,
  fakeKeys,
  startSearchProviders,
} from '../../../../test/fakes/search-providers/start-search-providers.ts';
import { Secret } from '../../../base/secret.ts';
import { createProviders, type ProvidersConfig } from './create-providers.ts';
import { ProviderFailure, providerNames, type SearchProvider, type SearchResult } from './search-provider.ts';

async function start(t: TestContext, changes: Partial<ProvidersConfig> = {}) {
  const fakes = await startSearchProviders(t);
  const { addresses } = fakes;
  const providers = createProviders({
    searchProvider: 'duckduckgo',
    duckduckgoUrl: addresses.duckduckgo,
    searxngUrl: addresses.searxng,
    serperUrl: addresses.serper,
    serperApiKey: new Secret(fakeKeys.serper),
    braveUrl: addresses.brave,
    braveApiKey: new Secret(fakeKeys.brave),
    searchTimeoutMs: 5_000,
    userAgent: 'ResearchCopilot/1.0',
    ...changes,
  });
  const find = (name: FakeProvider): SearchProvider => {
    const found = providers.find((provider) => provider.name === name);
    assert.ok(found);
    return found;
  };
  return { ...fakes, providers, find };
}

const search = (provider: SearchProvider, limit = 3): Promise<SearchResult[]> =>
  provider.search({ query: 'python "&"', limit, signal: new AbortController().signal });

async function failureOf(provider: SearchProvider): Promise<ProviderFailure> {
  const error: unknown = await search(provider).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ProviderFailure, `no failure but ${inspect(error)}`);
  return error;
}

for (const name of providerNames) {
  test(`${name}: sends its request format and reads the answer`, async (t) => {
    const { find, asked } = await start(t);
    const results = await search(find(name));
    assert.deepEqual(results, usualResults.slice(0, 3));
    assert.equal(asked.length, 1);
    assert.equal(asked[0]?.provider, name);
    assert.equal(asked[0]?.query, 'python "&"');
    assert.equal(asked[0]?.headers['user-agent'], 'ResearchCopilot/1.0');
  });

  test(`${name}: nothing found is an empty list`, async (t) => {
    const { find, behave } = await start(t);
    behave(name, { kind: 'results', results: [] });
    assert.deepEqual(await search(find(name)), []);
  });

  for (const status of [202, 403, 429]) {
    test(`contract §7: ${name} answering ${status} is blocked, never empty`, async (t) => {
      const { find, behave } = await start(t);
      const body = name === 'duckduckgo' ? '<html><div id="links"></div></html>' : '{"results":[],"organic":[]}';
      behave(name, { kind: 'body', status, type: 'text/html', body, headers: { 'retry-after': '7' } });
      const failure = await failureOf(find(name));
      assert.equal(failure.reason, 'blocked');
      assert.equal(failure.status, status);
      assert.equal(failure.retryAfterSeconds, 7);
    });
  }

  const broken: [what: string, Behaviour][] = [
    ['status 500 with a secret', { kind: 'body', status: 500, type: 'text/plain', body: 'db password hunter22' }],
    ['a page in place of results', { kind: 'body', status: 200, type: 'text/html', body: '<h1>It works!</h1>' }],
    ['an empty body', { kind: 'body', status: 200, type: 'application/json', body: '' }],
    ['JSON of another shape', { kind: 'body', status: 200, type: 'application/json', body: '[1, 2]' }],
    ['broken JSON', { kind: 'body', status: 200, type: 'application/json', body: '{"organic": [' }],
    [
      'a redirect',
      { kind: 'body', status: 302, type: 'text/html', body: '', headers: { location: 'http://169.254.169.254/' } },
    ],
    ['an endless answer', { kind: 'endless' }],
  ];
  for (const [what, behaviour] of broken) {
    test(`T156: ${name} answering with ${what} counts as failed`, async (t) => {
      const { find, behave, asked } = await start(t);
      behave(name, behaviour);
      const failure = await failureOf(find(name));
      assert.equal(failure.reason, 'failed');
      assert.equal(failure.message.includes('hunter22'), false);
      assert.equal(asked.length, 1);
    });
  }

  test(`${name}: reports a missing answer as a timeout`, async (t) => {
    const { find, behave } = await start(t, { searchTimeoutMs: 100 });
    behave(name, { kind: 'silent' });
    assert.equal((await failureOf(find(name))).reason, 'timeout');
  });
}

test('contract §7: a challenge page with status 200 is blocked', async (t) => {
  const { find, behave } = await start(t);
  behave('duckduckgo', { kind: 'body', status: 200, type: 'text/html', body: gatewayChallenge });
  assert.equal((await failureOf(find('duckduckgo'))).reason, 'blocked');
});

test('a SearXNG whose engines are all blocked is blocked itself', async (t) => {
  const { find, behave } = await start(t);
  const body = JSON.stringify(searxngAnswer([], ['google', 'bing']));
  behave('searxng', { kind: 'body', status: 200, type: 'application/json', body });
  assert.equal((await failureOf(find('searxng'))).reason, 'blocked');
});

test('an address that answers with JSON is read as the Instant Answer API', async (t) => {
  const { find, behave } = await start(t);
  const body = JSON.stringify(instantAnswer(usualResults));
  behave('duckduckgo', { kind: 'body', status: 200, type: 'application/x-javascript', body });
  const results = await search(find('duckduckgo'), 5);
  assert.deepEqual(
    results.map(({ title, url }) => ({ title, url })),
    usualResults.slice(0, 5).map(({ title, url }) => ({ title, url })),
  );
  assert.match(results[1]?.snippet ?? '', /A high-level one/);
});

test('reports a wrong key as a failure, without revealing the key', async (t) => {
  const { find } = await start(t, { serperApiKey: new Secret('wrong-key-123456') });
  const failure = await failureOf(find('serper'));
  assert.equal(failure.status, 401);
  assert.equal(inspect(failure, { depth: 10 }).includes('wrong-key'), false);
});

test('passes the number of results to providers that support it', async (t) => {
  const { find, asked } = await start(t);
  await search(find('serper'), 4);
  await search(find('brave'), 4);
  assert.deepEqual(
    asked.map(({ count }) => count),
    [4, 4],
  );
});

test('offers only configured providers; choosing another is a configuration error', () => {
  const nothing = {
    duckduckgoUrl: 'https://a.example/',
    searxngUrl: undefined,
    serperUrl: 'https://a.example/',
    serperApiKey: undefined,
    braveUrl: 'https://a.example/',
    braveApiKey: undefined,
    searchTimeoutMs: 1,
    userAgent: 'x',
  };
  const names = createProviders({ ...nothing, searchProvider: 'duckduckgo' }).map(({ name }) => name);
  assert.deepEqual(names, ['duckduckgo']);
  const missing = { serper: /SERPER_API_KEY/, brave: /BRAVE_API_KEY/, searxng: /SEARXNG_URL/ } as const;
  for (const searchProvider of ['serper', 'brave', 'searxng'] as const) {
    assert.throws(() => createProviders({ ...nothing, searchProvider }), {
      code: 'invalid_config',
      message: missing[searchProvider],
    });
  }
});
