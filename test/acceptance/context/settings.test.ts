import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { serveHttp } from '../../fakes/loopback-server.ts';
import { runCarrel, startCarrel } from '../../support/child-program.ts';
import { pause } from '../../support/pause.ts';
import { verifies } from '../../support/verifies.ts';
import { type ContextServer, onEachDatabase, onSqlite } from './context-fixture.ts';

onEachDatabase(
  'METADATA_INDEXED_FIELDS',
  (server: ContextServer) => {
    const { call, store } = server;
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
  },
  { METADATA_INDEXED_FIELDS: 'ticket,owner:object,labels:array', EMBEDDING_PROVIDER: 'none' },
);

test('upstreams 1.16: METADATA_INDEX_SYNC_MODE strict does not start with another index, auto makes it', async (t) => {
  const env = { EMBEDDING_PROVIDER: 'none', MCP_TRANSPORT: 'http' };
  const first = await startCarrel(t, ['context'], { env: { ...env, METADATA_INDEXED_FIELDS: 'a,b' } });
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(first.url)));
  const input = { thread_id: 't', source: 'user', text: 'x', metadata: { a: 1 } };
  assert.ok(!(await client.callTool({ name: 'store_context', arguments: input })).isError);
  await client.close();
  assert.equal(await first.stop(), 0);
  const { dataDir } = first;
  const other = { ...env, METADATA_INDEXED_FIELDS: 'b,c' };
  const refused = await runCarrel(t, ['context'], { dataDir, env: { ...other, METADATA_INDEX_SYNC_MODE: 'strict' } });
  assert.equal(refused.code, 78);
  assert.match(refused.stderr, /METADATA_INDEXED_FIELDS.*missing: c; extra: a.*auto/);
  const made = await startCarrel(t, ['context'], { dataDir, env: { ...other, METADATA_INDEX_SYNC_MODE: 'auto' } });
  assert.equal(await made.stop(), 0);
  const strict = { ...other, METADATA_INDEX_SYNC_MODE: 'strict' };
  const agreed = await startCarrel(t, ['context'], { dataDir, env: strict });
  assert.equal(await agreed.stop(), 0);
  const bad = await runCarrel(t, ['context'], { env: { ...env, METADATA_INDEXED_FIELDS: 'a:text' } });
  assert.equal(bad.code, 78);
  assert.match(bad.stderr, /METADATA_INDEXED_FIELDS.*string, integer, boolean, float, array, object/);
});

test('contract §1: an impossible database path is one line, with what to check', async (t) => {
  const { code, stderr } = await runCarrel(t, ['context'], { env: { DB_PATH: '/proc/none/context.db' } });
  assert.equal(code, 78);
  assert.match(stderr, /^carrel: [^\n]*database cannot be created there[^\n]*DB_PATH[^\n]*\n$/);
});

test('contract §5: switches take the words that the original takes', async (t) => {
  const env = { EMBEDDING_PROVIDER: 'none', MCP_TRANSPORT: 'http', ENABLE_FTS: 'False', ENABLE_RERANKING: '1' };
  const program = await startCarrel(t, ['context'], { env: { ...env, DISABLED_TOOLS: 'Delete_Context' } });
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(program.url)));
  const names = (await client.listTools()).tools.map(({ name }) => name);
  assert.deepEqual([names.includes('fts_search_context'), names.includes('delete_context')], [false, false]);
  await client.close();
  assert.equal(await program.stop(), 0);
  const { code, stderr } = await runCarrel(t, ['context'], { env: { ENABLE_FTS: 'maybe' } });
  assert.equal(code, 78);
  assert.match(stderr, /ENABLE_FTS must be one of auto, true, false/);
});

const long = `Raft meeting. ${'The team agreed to build the raft from driftwood. '.repeat(20)}`;

for (const provider of ['ollama', 'openai'] as const) {
  const calls: { path: string | undefined; authorization: string | undefined; body: string }[] = [];
  const env: Record<string, string> = {
    ...{ EMBEDDING_PROVIDER: 'none', SUMMARY_PROVIDER: provider, SUMMARY_MODEL: 'tiny' },
    ...{ SUMMARY_RETRY_MAX_ATTEMPTS: '1', SUMMARY_RETRY_BASE_DELAY_S: '0' },
  };
  const closings: (() => unknown)[] = [];
  let mode: 'fine' | 'garbage' | 'down' = 'fine';

  before(async () => {
    const { origin } = await serveHttp({ after: (clean) => closings.push(clean) }, async (request, response) => {
      const body = await text(request);
      calls.push({ path: request.url, authorization: request.headers.authorization, body });
      if (mode === 'down') {
        response.writeHead(503).end('foreign text');
        return;
      }
      const content = mode === 'garbage' ? '' : 'A summary by the model.';
      const answer = provider === 'ollama' ? { message: { content } } : { choices: [{ message: { content } }] };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
    if (provider === 'ollama') env['OLLAMA_HOST'] = origin;
    else Object.assign(env, { OPENAI_API_BASE: `${origin}/v1`, OPENAI_API_KEY: 'sk-test-key' });
  });

  after(() => closings.forEach((close) => void close()));

  const onDatabases = provider === 'ollama' ? onEachDatabase : onSqlite;
  onDatabases(
    `summaries by ${provider}`,
    (server) => {
      const summaryOf = async (id: number) =>
        (await server.call('get_context_by_ids', { context_ids: [id] })).result[0]?.['summary'];
      const made = async (id: number) => {
        for (const start = Date.now(); Date.now() - start < 60_000; ) {
          const summary = await summaryOf(id);
          if (summary !== null) return String(summary);
          await pause(50);
        }
        assert.fail('no summary was made within a minute');
      };

      verifies(
        '002 entry/summary',
        'a model summarises after the write; bad answers and outages fail no write',
        async () => {
          mode = 'fine';
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
          mode = 'garbage';
          const second = await server.store('s', `${long} Once more.`);
          assert.match(await made(second), /build the raft from driftwood/);
          mode = 'down';
          const third = await server.store('s', `${long} And again.`);
          const [shown] = (await server.call('search_context', { thread_id: 's' })).results;
          assert.deepEqual([shown?.id, shown?.['summary']], [third, '']);
          mode = 'fine';
          assert.equal(await made(third), 'A summary by the model.');
          const short = await server.store('s', 'short');
          assert.equal(await summaryOf(short), null);
          const update = await server.call('update_context', { context_id: third, text: 'short too' });
          assert.deepEqual(update['updated_fields'], ['text_content', 'summary']);
          assert.match(String(update['message']), /summary cleared/);
        },
      );
    },
    env,
  );
}
