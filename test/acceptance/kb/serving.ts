import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { loadRoleConfig } from '../../../src/app/program.ts';
import { roles } from '../../../src/app/roles.ts';
import { serveHttp } from '../../fakes/loopback-server.ts';
import { startCarrel } from '../../support/child-program.ts';
import { post } from '../../support/raw-http.ts';
import { initializeParams } from '../../support/stdio-client.ts';
import { verifies } from '../../support/verifies.ts';
import { agentKey, connectAgent, engineKey, type KbServers } from './kb-fixture.ts';

const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams('2025-11-25') };

export function transportAndAuthentication(kb: KbServers): void {
  verifies(
    '003 transport/starts',
    'serves Streamable HTTP, and calls the engine at its address with its key',
    async () => {
      const since = kb.proxy.requests.length;
      const { tools } = await kb.client.listTools();
      assert.deepEqual(
        tools.map(({ name }) => name),
        [
          'kb_search',
          'kb_add',
          'kb_addnote',
          'kb_update_note',
          'kb_get',
          'kb_list',
          'kb_status',
          'kb_jobs',
          'kb_upload_start',
          'kb_upload_chunk',
          'kb_upload_finish',
          'kb_delete',
          'kb_set_collection',
          'kb_bulk_delete',
          'kb_bulk_tags',
          'kb_bulk_set_tags',
        ],
      );
      // Contract §2: tools that overwrite or delete are destructive in MCP's sense, tools that only add are not.
      assert.deepEqual(
        tools.filter(({ annotations }) => annotations?.destructiveHint).map(({ name }) => name),
        ['kb_update_note', 'kb_delete', 'kb_set_collection', 'kb_bulk_delete', 'kb_bulk_tags', 'kb_bulk_set_tags'],
      );
      await kb.call('kb_status');
      await kb.addNote('With the key of the engine');
      await kb.call('kb_search', { query: 'key' });
      const keys = kb.proxy.requests.slice(since).map(({ headers }) => headers.authorization);
      assert.ok(keys.length >= 3);
      assert.deepEqual(new Set(keys), new Set([`Bearer ${engineKey}`]));
    },
  );

  verifies('003 auth/valid', 'accepts the right token', async () => {
    const answer = await post(kb.kb.url, initialize, { authorization: `Bearer ${agentKey}` });
    assert.equal(answer.status, 200);
    assert.equal((await kb.call('kb_status'))['authenticated'], true);
  });

  verifies(
    ['003 auth/missing', '003 auth/invalid'],
    "rejects a missing token, a wrong one and the engine's key",
    async () => {
      for (const authorization of [undefined, 'Bearer wrong', `Bearer ${engineKey}`, agentKey, `Basic ${agentKey}`]) {
        const answer = await post(kb.kb.url, initialize, authorization === undefined ? {} : { authorization });
        assert.equal(answer.status, 401, authorization);
        assert.match(String(answer.headers['www-authenticate']), /^Bearer/);
      }
    },
  );

  verifies(
    ['003 auth/disabled', '003 transport/compose', '003 upload/start'],
    'without KB_MCP_API_KEY accepts everyone as unauthenticated; reaches the engine by name, and serves under its allowed names',
    async (t) => {
      const open = await kb.startKb(t, {
        KB_MCP_API_KEY: undefined,
        KB_ENGINE_URL: kb.proxy.origin.replace('127.0.0.1', 'localhost'),
        KB_MCP_ALLOWED_HOSTS: 'kb-mcp, kb.example',
      });
      const agent = await kb.connect(t, open.url);
      assert.equal((await agent.call('kb_status'))['authenticated'], false);
      const asHost = (host: string) =>
        new Promise<number>((resolve, reject) => {
          const request = httpRequest(new URL('/health', open.url), { headers: { host }, agent: false }, (answer) => {
            answer.resume();
            resolve(answer.statusCode ?? 0);
          });
          request.on('error', reject).end();
        });
      assert.deepEqual(
        await Promise.all(['kb-mcp:3000', 'kb.example', 'evil.example', 'kb.example.evil'].map(asHost)),
        [200, 200, 403, 403],
      );
      // An upload belongs to the agent that started it.
      const { upload_id } = await agent.call('kb_upload_start', { filename: 'a.txt', total_size: 3 });
      assert.equal((await kb.fail('kb_upload_finish', { upload_id })).code, 'upload_not_found');
    },
  );

  verifies('003 transport/starts', 'reports a wrong engine key', async (t) => {
    const server = await kb.startKb(t, { KB_API_KEY: 'wrong' });
    const agent = await kb.connect(t, server.url, agentKey);
    const error = await agent.fail('kb_status');
    assert.equal(error.code, 'engine_unauthorized');
    assert.match(error.message, /KB_API_KEY/);
  });

  verifies('003 transport/unreachable', 'recovers after an engine outage, with errors only during it', async () => {
    await kb.call('kb_status');
    kb.proxy.isDown = true;
    for (const [tool, input] of [
      ['kb_status', {}],
      ['kb_search', { query: 'x' }],
      ['kb_addnote', { text: 'x' }],
      ['kb_get', { document_id: 1 }],
      ['kb_bulk_delete', { from_id: 1 }],
    ] as const) {
      assert.equal((await kb.fail(tool, input)).code, 'engine_unreachable', tool);
    }
    kb.proxy.isDown = false;
    await kb.call('kb_status');
  });

  verifies(
    '003 transport/unreachable',
    'starts without its engine, lists its tools and reports the problem',
    async (t) => {
      const server = await startCarrel(t, ['kb'], { env: { KB_ENGINE_URL: 'http://127.0.0.1:9' } });
      const agent = await connectAgent(t, server.url);
      assert.equal((await agent.client.listTools()).tools.length, 16);
      const error = await agent.fail('kb_search', { query: 'anything' });
      assert.equal(error.code, 'engine_unreachable');
      assert.match(error.message, /unreachable/);
      assert.doesNotMatch(JSON.stringify(error), /127\.0\.0\.1|ECONNREFUSED/);
      const upload = await agent.call('kb_upload_start', { filename: 'a.txt', total_size: 1 });
      assert.ok(upload['upload_id']);
    },
  );

  verifies(
    '003 transport/unreachable',
    'times out on a slow engine, and closes its request when the caller cancels',
    async (t) => {
      const closed = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      const slow = await serveHttp(t, (request) => {
        arrived.resolve();
        request.socket.once('close', () => closed.resolve());
      });
      const hasty = await startCarrel(t, ['kb'], { env: { KB_ENGINE_URL: slow.origin, KB_ENGINE_TIMEOUT_MS: '300' } });
      assert.equal((await (await connectAgent(t, hasty.url)).fail('kb_status')).code, 'engine_timeout');
      await closed.promise;

      const patient = await startCarrel(t, ['kb'], { env: { KB_ENGINE_URL: slow.origin } });
      const agent = await connectAgent(t, patient.url);
      const controller = new AbortController();
      const gone = Promise.withResolvers<void>();
      slow.server.once('request', (request: { socket: { once(event: string, run: () => void): void } }) => {
        request.socket.once('close', () => gone.resolve());
        controller.abort();
      });
      await assert.rejects(agent.client.callTool({ name: 'kb_status', arguments: {} }, { signal: controller.signal }));
      await gone.promise;
    },
  );

  verifies('003 transport/starts', 'rejects invalid settings before anything starts', () => {
    const role = roles['kb'] ?? assert.fail();
    assert.throws(() => loadRoleConfig(role, {}, { KB_ENGINE_URL: 'engine:8000' }), {
      code: 'invalid_config',
      message: /KB_ENGINE_URL must be an http or https URL/,
    });
  });
}
