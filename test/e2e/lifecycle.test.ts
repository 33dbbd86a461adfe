import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { exchange, modernRequest, openSession, post } from '../support/raw-http.ts';
import { initializeParams, type Message, type StdioClient, startStdioClient } from '../support/stdio-client.ts';

const slowCall = (marker: string) => ({ name: 'slow', arguments: { marker, delay_ms: 0 } });
const initialize = (id: string | number, params: unknown = initializeParams('2025-11-25')) => ({
  jsonrpc: '2.0',
  id,
  method: 'initialize',
  params,
});

describe('the lifecycle up to 2025-11-25 on stdio (contract §2)', () => {
  const run =
    (test: (client: StdioClient) => Promise<void>, args: readonly string[] = []) =>
    async () => {
      const client = startStdioClient(echoProgram, args);
      await test(client);
      assert.equal(await client.end(), 0);
    };

  it(
    'T001, T002: only ping works before the handshake is complete',
    run(async (client) => {
      assert.equal((await client.request(1, 'tools/call', slowCall('early'))).error?.code, -32_600);
      assert.deepEqual((await client.request(2, 'ping')).result, {});
      await client.request(3, 'initialize', initializeParams('2025-11-25'));
      const refused = await client.request(4, 'tools/call', slowCall('early'));
      assert.deepEqual(refused.error, { code: -32_600, message: 'Server not initialized' });
      assert.deepEqual((await client.request(5, 'ping')).result, {});
      client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      const { result } = await client.request(6, 'tools/call', slowCall('late'));
      assert.deepEqual(result?.['structuredContent'], { marker: 'late' });
      assert.doesNotMatch(client.program.stderrText(), /started early/);
    }),
  );

  it(
    'T003: rejects a second initialize without side effects',
    run(async (client) => {
      await client.handshake('2025-06-18');
      assert.equal((await client.request(1, 'initialize', initializeParams('2024-11-05'))).error?.code, -32_600);
      assert((await client.request(2, 'tools/list')).result);
    }),
  );

  it(
    'T005: a client may probe with server/discover and fall back to a handshake',
    run(async (client) => {
      const { message } = modernRequest('server/discover');
      const discovered = await client.request('probe', 'server/discover', message.params);
      assert.deepEqual(discovered.result?.['supportedVersions'], ['2026-07-28']);
      assert.equal((await client.request(1, 'tools/list')).error?.code, -32_600);
      assert.equal((await client.handshake('2025-03-26')).result?.['protocolVersion'], '2025-03-26');
      const missing = await client.request(2, 'resources/read', { uri: 'echo://nothing' });
      assert.equal(missing.error?.code, -32_002);
    }),
  );

  it(
    'T005: an unknown revision is answered with the supported ones',
    run(async (client) => {
      const { message } = modernRequest('tools/list', {
        _meta: { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' },
      });
      const { error } = await client.request(1, 'tools/list', message.params);
      assert.equal(error?.code, -32_022);
      assert.deepEqual(error?.data?.['supported'], ['2026-07-28']);
    }),
  );

  it(
    'T006: rejects initialize in a batch',
    run(async (client) => {
      await client.handshake('2025-03-26');
      client.send([initialize(1), { jsonrpc: '2.0', id: 2, method: 'ping' }]);
      const batch = await client.next((message) => Array.isArray(message));
      const answers = Object.values(batch) as Message[];
      assert.equal(answers.find(({ id }) => id === 1)?.error?.code, -32_600);
      assert.deepEqual(answers.find(({ id }) => id === 2)?.result, {});
    }),
  );

  it(
    'T007: initialize cannot be cancelled',
    run(async (client) => {
      const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
      client.write(`${JSON.stringify(initialize(1))}\n${JSON.stringify(cancel)}\n`);
      const answer = await client.next(({ id }) => id === 1);
      assert.equal(answer.result?.['protocolVersion'], '2025-11-25');
    }),
  );

  it(
    'T016: answers calls that are in flight when the input ends',
    run(async (client) => {
      await client.handshake();
      for (const id of [1, 2, 3]) {
        const params = { name: 'slow', arguments: { marker: `m${id}`, delay_ms: 100 } };
        client.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
      }
      assert.equal(await client.end(), 0);
      const answered = client.messages.filter(({ result }) => result?.['structuredContent']).map(({ id }) => id);
      assert.deepEqual(answered.sort(), [1, 2, 3]);
    }),
  );

  it(
    'T004: a missing or non-string revision is a bad argument, and the client may retry',
    run(async (client) => {
      const { protocolVersion: _left, ...missing } = { ...initializeParams('x'), protocolVersion: undefined };
      for (const params of [{ ...initializeParams('x'), protocolVersion: 7 }, missing, {}]) {
        const { error } = await client.request(`bad ${JSON.stringify(params)}`, 'initialize', params);
        assert.equal(error?.code, -32_602);
        assert.match(String(error?.message), /protocolVersion must be a string/);
      }
      assert((await client.handshake()).result);
    }),
  );
});

describe('the lifecycle over HTTP (contract §2)', () => {
  let program: ListeningProgram;
  before(async () => {
    program = await startListening(echoProgram);
  });
  after(() => program.stop());
  const call = (id: number, marker: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: slowCall(marker) });

  const newest = '2025-11-25';
  const offers = { every: undefined, fess: '2025-03-26', cody: '2024-11-05' };
  for (const [offer, pinned] of Object.entries(offers)) {
    it(`T004: always answers with an offered revision (${offer})`, async (t) => {
      const { url, stop } = pinned ? await startListening(echoProgram, ['--revisions', offer]) : program;
      if (pinned) t.after(stop);
      const asked = {
        '2025-03-26': '2025-03-26',
        '2024-11-05': '2024-11-05',
        '2026-07-28': newest,
        '9999-01-01': newest,
      };
      for (const [protocolVersion, expected] of Object.entries({ ...asked, '': newest })) {
        const { messages } = await post(url, initialize(1, initializeParams(protocolVersion)));
        assert.equal(messages[0]?.result?.['protocolVersion'], pinned ?? expected, protocolVersion);
      }
    });
  }

  it('T001, T002: only ping works before the handshake is complete', async () => {
    const early = await post(program.url, call(1, 'early'));
    assert.equal(early.status, 400);
    assert.deepEqual(early.messages[0]?.error, { code: -32_600, message: 'Server not initialized' });
    const opened = await post(program.url, initialize(1));
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const ping = await post(program.url, { jsonrpc: '2.0', id: 2, method: 'ping' }, headers);
    assert.deepEqual(ping.messages[0]?.result, {});
    assert.equal((await post(program.url, call(3, 'early'), headers)).messages[0]?.error?.code, -32_600);
    assert.doesNotMatch(program.stderrText(), /started early/);
  });

  it('a call that overtakes notifications/initialized waits for it', async () => {
    const opened = await post(program.url, initialize(1));
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const overtaking = post(program.url, call(2, 'overtaking'), headers);
    await post(program.url, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
    assert.deepEqual((await overtaking).messages[0]?.result?.['structuredContent'], { marker: 'overtaking' });
  });

  it('T003: rejects a second initialize in a session without side effects', async () => {
    const session = await openSession(program.url);
    const { messages } = await session.send(initialize(1));
    assert.equal(messages[0]?.error?.code, -32_600);
    assert((await session.call(2, 'echo', { text: 'x' })).messages[0]?.result);
  });

  it('T056: an ended or unknown session is not found', async () => {
    const session = await openSession(program.url);
    const gone = await exchange(program.url, { method: 'DELETE', headers: session.headers });
    assert.equal(gone.status, 200);
    assert.equal((await session.call(1, 'echo', { text: 'x' })).status, 404);
    const made = { ...session.headers, 'mcp-session-id': '00000000-0000-4000-8000-000000000000' };
    assert.equal((await post(program.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, made)).status, 404);
  });
});
