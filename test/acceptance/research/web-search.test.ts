import assert from 'node:assert/strict';
import { usualResults } from '../../fakes/search-providers/search-pages.ts';
import { fakeKeys } from '../../fakes/search-providers/start-search-providers.ts';
import { verifies } from '../../support/verifies.ts';
import { startResearch } from './research-fixture.ts';

const { rpc, providers } = await startResearch();
const all = { kind: 'results', results: usualResults } as const;

/** All providers are configured, and Serper is the default. */
const rich = await startResearch({
  SEARCH_PROVIDER: 'serper',
  SERPER_API_KEY: fakeKeys.serper,
  BRAVE_API_KEY: fakeKeys.brave,
  SERPER_URL: providers.addresses.serper,
  BRAVE_URL: providers.addresses.brave,
  SEARXNG_URL: providers.addresses.searxng,
  DUCKDUCKGO_URL: providers.addresses.duckduckgo,
});

verifies('004 web_search/query', 'requires a non-blank query, and sends it unchanged', async () => {
  for (const args of [{}, { query: '' }, { query: ' \n ' }, { query: 7 }, { query: 'x'.repeat(1001) }]) {
    const error = await rpc.error('web_search', args);
    assert.equal(error.data.code, 'validation_error', JSON.stringify(args).slice(0, 40));
    assert.match(error.message, /query/);
  }
  const query = `  c++ "a & b" 東京 %20 #1 \\ ';--  `;
  const result = await rpc.result('web_search', { query });
  assert.equal(result['query'], query.trim());
  assert.equal(providers.asked.at(-1)?.query, query.trim());
});

verifies('004 web_search/limit', 'returns three results by default, one to five on request', async () => {
  const count = async (args: object): Promise<number> => {
    const { results } = await rpc.result('web_search', { query: 'python', ...args });
    assert.ok(Array.isArray(results));
    return results.length;
  };
  assert.equal(await count({}), 3);
  assert.equal(await count({ limit: 1 }), 1);
  assert.equal(await count({ limit: 5 }), 5);
  for (const limit of [0, -1, 6, 1.5, '2', true]) {
    const error = await rpc.error('web_search', { query: 'python', limit });
    assert.equal(error.data.code, 'validation_error', String(limit));
  }
});

verifies(
  ['004 web_search/provider', '004 config/SEARCH_PROVIDER'],
  'asks the configured provider unless the call names another',
  async () => {
    const used = async (args: object): Promise<unknown> =>
      (await rich.rpc.result('web_search', { query: 'python', ...args }))['provider'];
    assert.equal(await used({}), 'serper');
    for (const provider of ['duckduckgo', 'brave', 'searxng', 'serper'])
      assert.equal(await used({ provider }), provider);
    for (const provider of ['bing', '', 'Serper']) {
      assert.equal((await rich.rpc.error('web_search', { query: 'python', provider })).data.code, 'validation_error');
    }
    const notConfigured = await rpc.error('web_search', { query: 'python', provider: 'serper' });
    assert.equal(notConfigured.data.code, 'validation_error');
    assert.match(notConfigured.message, /provider must be duckduckgo/);
    const health = await (await fetch(`${rich.carrel.origin}/health`)).text();
    assert.match(health, /"search_provider":"serper"/);
  },
);

verifies('004 config/SERPER_API_KEY', 'sends the key only to Serper', async () => {
  await rich.rpc.result('web_search', { query: 'key check' });
  assert.equal(providers.asked.at(-1)?.headers['x-api-key'], fakeKeys.serper);
  await rich.rpc.result('web_search', { query: 'key check', provider: 'duckduckgo' });
  assert.equal(JSON.stringify(providers.asked.at(-1)?.headers).includes(fakeKeys.serper), false);
});

verifies('004 errors/search_no_results', 'reports a search without results as an error', async () => {
  providers.behave('duckduckgo', { kind: 'results', results: [] });
  const error = await rpc.error('web_search', { query: 'zxqv' });
  providers.behave('duckduckgo', all);
  assert.equal(error.code, -32_000);
  assert.deepEqual(error.data, {
    code: 'search_no_results',
    details: { query: 'zxqv', provider: 'duckduckgo' },
  });
});

verifies(
  '004 errors/search_failed',
  'reports a failing or blocking provider as search_failed, never as an empty answer',
  async () => {
    const broken = [
      { kind: 'challenge' },
      { kind: 'body', status: 429, type: 'text/html', body: '' },
      { kind: 'body', status: 403, type: 'text/html', body: '' },
      { kind: 'body', status: 500, type: 'text/plain', body: 'password=hunter22 at db.internal' },
      { kind: 'body', status: 200, type: 'text/html', body: '<h1>Hello</h1>' },
    ] as const;
    for (const behaviour of broken) {
      providers.behave('duckduckgo', behaviour);
      const error = await rpc.error('web_search', { query: 'python' });
      assert.equal(error.code, -32_000);
      assert.equal(error.data.code, 'search_failed');
      const isBlock = behaviour.kind === 'challenge' || behaviour.status === 429 || behaviour.status === 403;
      assert.equal(error.data.details['reason'], isBlock ? 'blocked' : 'failed');
      assert.doesNotMatch(JSON.stringify(error), /hunter22|db\.internal|127\.0\.0\.1/);
    }
    providers.behave('duckduckgo', all);
    assert.equal((await rpc.result('web_search', { query: 'python' }))['provider'], 'duckduckgo');
  },
);

verifies(
  '004 errors/search_failed',
  'contract §7: a blocked provider is reported and the next one answers',
  async () => {
    providers.behave('serper', { kind: 'challenge' });
    providers.behave('searxng', { kind: 'body', status: 502, type: 'text/plain', body: '' });
    const result = await rich.rpc.result('web_search', { query: 'python' });
    assert.equal(result['provider'], 'brave');
    assert.deepEqual(result['attempts'], [
      { provider: 'serper', outcome: 'blocked', status: 429 },
      { provider: 'searxng', outcome: 'failed', status: 502 },
      { provider: 'brave', outcome: 'answered' },
    ]);
    const asked = providers.asked.length;
    await rich.rpc.result('web_search', { query: 'python' });
    assert.deepEqual(
      providers.asked.slice(asked).map(({ provider }) => provider),
      ['brave'],
    );
  },
);

verifies('004 config/SERPER_API_KEY', 'no log, error or answer contains a key', async () => {
  providers.behave('serper', { kind: 'body', status: 500, type: 'text/plain', body: fakeKeys.serper });
  const answer = JSON.stringify(
    await rich.rpc.callTool('web_search', { query: fakeKeys.brave.slice(0, 5), provider: 'serper' }),
  );
  assert.equal(answer.includes(fakeKeys.serper), false);
  assert.equal(rich.carrel.stderrText().includes(fakeKeys.serper), false);
});
