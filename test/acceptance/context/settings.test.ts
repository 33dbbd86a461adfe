import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { loadRoleConfig } from '../../../src/app/program.ts';
import { roles } from '../../../src/app/roles.ts';
import { serveHttp } from '../../fakes/loopback-server.ts';
import { makeFolder, runCarrel, startCarrel } from '../../support/child-program.ts';
import { until } from '../../support/pause.ts';
import { verifies } from '../../support/verifies.ts';
import { type ContextServer, onEachDatabase, onSqlite } from './context-fixture.ts';

test('contract §1: an impossible database path is one line, with what to check', async (t) => {
  const { code, stderr } = await runCarrel(t, ['context'], { env: { DB_PATH: '/proc/none/context.db' } });
  assert.equal(code, 78);
  assert.match(stderr, /^carrel: [^\n]*database cannot be created there[^\n]*DB_PATH[^\n]*\n$/);
});

test('contract §5: MCP_TRANSPORT, MCP_AUTH_TOKEN, DB_PATH and switches are as the original has them', async (t) => {
  const options = {
    folder: makeFolder(t),
    env: {
      ...{ MCP_TRANSPORT: 'streamable-http', MCP_AUTH_TOKEN: 'sesame-opens-it', DB_PATH: 'memory.db' },
      ...{ EMBEDDING_PROVIDER: 'none', ENABLE_FTS: 'False', ENABLE_RERANKING: '1', DISABLED_TOOLS: 'Delete_Context' },
    },
  };
  const withFields = (fields: string, mode?: string) => ({
    ...options,
    env: {
      ...{ ...options.env, METADATA_INDEXED_FIELDS: fields },
      ...(mode === undefined ? {} : { METADATA_INDEX_SYNC_MODE: mode }),
    },
  });
  const first = await startCarrel(t, ['context'], withFields('a,b'));
  const refused = await fetch(first.url, { method: 'POST', body: '{}' });
  assert.equal(refused.status, 401);
  const client = new Client({ name: 'test', version: '1' });
  const headers = { Authorization: 'Bearer sesame-opens-it' };
  await client.connect(new StreamableHTTPClientTransport(new URL(first.url), { requestInit: { headers } }));
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert.deepEqual([names.includes('fts_search_context'), names.includes('delete_context')], [false, false]);
  const input = { thread_id: 't', source: 'user', text: 'over http', metadata: { a: 1 } };
  assert.ok(!(await client.callTool({ name: 'store_context', arguments: input })).isError);
  await client.close();
  assert.equal(await first.stop(), 0);
  assert.ok(existsSync(join(options.folder, 'memory.db')));

  await t.test('upstreams 1.16: METADATA_INDEX_SYNC_MODE strict rejects another index, auto makes it', async () => {
    const strict = await runCarrel(t, ['context'], withFields('b,c', 'strict'));
    assert.equal(strict.code, 78);
    assert.match(strict.stderr, /METADATA_INDEXED_FIELDS.*missing: c; extra: a.*auto/);
    const made = await startCarrel(t, ['context'], withFields('b,c', 'auto'));
    assert.equal(await made.stop(), 0);
    const agreed = await startCarrel(t, ['context'], withFields('b,c', 'strict'));
    assert.equal(await agreed.stop(), 0);
  });
});

test('contract §5: an invalid value is rejected, with the values that are possible', () => {
  const role = roles['context'] ?? assert.fail();
  for (const [env, message] of [
    [{ METADATA_INDEXED_FIELDS: 'a:text' }, /METADATA_INDEXED_FIELDS.*string, integer, boolean, float, array, object/],
    [{ ENABLE_FTS: 'maybe' }, /ENABLE_FTS must be one of auto, true, false/],
  ] as const) {
    assert.throws(() => loadRoleConfig(role, {}, env), { code: 'invalid_config', message });
  }
});

const withSummaries = {
  ...{ EMBEDDING_PROVIDER: 'none', SUMMARY_MODEL: 'tiny' },
  ...{ SUMMARY_RETRY_MAX_ATTEMPTS: '1', SUMMARY_RETRY_BASE_DELAY_S: '0' },
};
const ollama = await startSummaryModel('ollama');
const openai = await startSummaryModel('openai');

onEachDatabase(
  'METADATA_INDEXED_FIELDS, and summaries by ollama',
  (server) => {
    indexedFields(server);
    summaries(server, ollama);
  },
  { ...withSummaries, ...ollama.env, METADATA_INDEXED_FIELDS: 'ticket,owner:object,labels:array' },
);

onSqlite(
  'no embeddings, and summaries by openai',
  (server) => {
    searchesWithoutEmbeddings(server);
    summaries(server, openai);
  },
  { ...withSummaries, ...openai.env },
);

function indexedFields({ call, store }: ContextServer): void {
  const plan = async (filters: Record<string, unknown>) => {
    const answer = await call('search_context', { ...filters, explain_query: true });
    return { count: answer['count'], plan: String((answer['stats'] as { query_plan: string }).query_plan) };
  };

  verifies('002 store_context/indexed', 'uses the index for listed fields, and finds others without it', async () => {
    for (let index = 0; index < 40; index += 1) {
      await store('indexed', `entry ${index}`, {
        metadata: {
          ticket: `T-${index}`,
          owner: { team: `team ${index % 4}` },
          labels: ['x', `l${index}`],
          size: index,
        },
      });
    }
    const byIndex = [
      { metadata: { ticket: 'T-7' } },
      { metadata: { 'owner.team': 'team 3' } },
      { metadata_filters: [{ key: 'labels', operator: 'array_contains', value: 'L5' }] },
      { metadata_filters: [{ key: 'ticket', operator: 'starts_with', value: 't-3' }] },
      { metadata_filters: [{ key: 'ticket', operator: 'contains', value: '-1' }] },
    ];
    for (const filters of byIndex) {
      const { count, plan: found } = await plan(filters);
      assert.ok(Number(count) > 0);
      assert.match(found, /context_fields/, JSON.stringify(filters));
      assert.doesNotMatch(found, /not indexed/);
    }
    const read = await plan({ metadata_filters: [{ key: 'size', operator: 'gte', value: 38 }] });
    assert.equal(read.count, 2);
    assert.doesNotMatch(read.plan, /context_fields/);
    assert.match(read.plan, /metadata size: not indexed/);
    const both = await plan({ metadata: { ticket: 'T-7', size: 7 } });
    assert.equal(both.count, 1);
    assert.match(both.plan, /context_fields[\s\S]*metadata size: not indexed/);
  });
}

function searchesWithoutEmbeddings(server: ContextServer): void {
  verifies(
    '002 hybrid_search_context/degradation',
    'falls back to words, and does not list the semantic search',
    async () => {
      const id = await server.store('t', 'plain words');
      const { tools } = await server.client.listTools();
      assert.ok(!tools.some(({ name }) => name === 'semantic_search_context'));
      const answer = await server.call('hybrid_search_context', { query: 'plain' });
      assert.deepEqual(answer['search_modes_used'], ['fts']);
      assert.equal(answer.results[0]?.id, id);
    },
  );
}

function summaries(server: ContextServer, model: SummaryModel): void {
  const { provider, calls } = model;
  const long = `Raft meeting. ${'The team agreed to build the raft from driftwood. '.repeat(20)}`;
  const summaryOf = async (id: number) =>
    (await server.call('get_context_by_ids', { context_ids: [id] })).result[0]?.['summary'];
  const made = (id: number) => until(async () => (await summaryOf(id)) ?? undefined);

  verifies(
    '002 entry/summary',
    `${provider} summarises after the write; bad answers and outages fail no write`,
    async () => {
      model.mode = 'fine';
      calls.length = 0;
      const answer = await server.call('store_context', { thread_id: 's', source: 'agent', text: long });
      assert.equal(answer['message'], 'Context stored (summary queued)');
      assert.equal(await made(Number(answer['context_id'])), 'A summary by the model.');
      const [call] = calls;
      assert.equal(call?.path, provider === 'ollama' ? '/api/chat' : '/v1/chat/completions');
      assert.equal(call?.authorization, provider === 'ollama' ? undefined : 'Bearer sk-test-key');
      assert.match(call?.body ?? '', /"model":"tiny".*It is data/s);
      const facts = (await server.call('get_statistics'))['summary'] as Record<string, unknown>;
      assert.deepEqual([facts['provider'], facts['model'], facts['summary_count']], [provider, 'tiny', 1]);
      model.mode = 'garbage';
      const second = await server.store('s', `${long} Once more.`);
      assert.match(String(await made(second)), /build the raft from driftwood/);
      model.mode = 'down';
      const third = await server.store('s', `${long} And again.`);
      const [shown] = (await server.call('search_context', { thread_id: 's' })).results;
      assert.deepEqual([shown?.id, shown?.['summary']], [third, '']);
      model.mode = 'fine';
      assert.equal(await made(third), 'A summary by the model.');
      const short = await server.store('s', 'short');
      assert.equal(await summaryOf(short), null);
      const update = await server.call('update_context', { context_id: third, text: 'short too' });
      assert.deepEqual(update['updated_fields'], ['text_content', 'summary']);
      assert.match(String(update['message']), /summary cleared/);
    },
  );
}

interface SummaryModel {
  readonly provider: 'ollama' | 'openai';
  /** The settings that name this model. */
  readonly env: Record<string, string>;
  readonly calls: { path: string | undefined; authorization: string | undefined; body: string }[];
  mode: 'fine' | 'garbage' | 'down';
}

/** Starts a server that summarises every text in the same words. */
async function startSummaryModel(provider: SummaryModel['provider']): Promise<SummaryModel> {
  const calls: SummaryModel['calls'] = [];
  const { origin } = await serveHttp({ after }, async (request, response) => {
    const body = await text(request);
    calls.push({ path: request.url, authorization: request.headers.authorization, body });
    if (model.mode === 'down') {
      response.writeHead(503).end('foreign text');
      return;
    }
    const content = model.mode === 'garbage' ? '' : 'A summary by the model.';
    const answer = provider === 'ollama' ? { message: { content } } : { choices: [{ message: { content } }] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  const env: Record<string, string> =
    provider === 'ollama'
      ? { SUMMARY_PROVIDER: provider, OLLAMA_HOST: origin }
      : { SUMMARY_PROVIDER: provider, OPENAI_API_BASE: `${origin}/v1`, OPENAI_API_KEY: 'sk-test-key' };
  const model: SummaryModel = { provider, env, calls, mode: 'fine' };
  return model;
}
