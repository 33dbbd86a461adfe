import assert from 'node:assert/strict';
import { startFakeFess } from '../../fakes/fess/start-fake-fess.ts';
import { carrelProgram, startListening } from '../../support/child-program.ts';
import { exchange, openSession, post } from '../../support/raw-http.ts';
import { initializeParams, type Message, startStdioClient } from '../../support/stdio-client.ts';
import { verifies } from '../../support/verifies.ts';
import { dataOf, finance, httpPeer, initializeMessage, makeHome, type Owner } from './bridge.ts';

async function makeFessHome(t: Owner, more: object = {}): Promise<string> {
  const fess = await startFakeFess({ version: '15.4' });
  t.after(() => fess.close());
  return makeHome(t, { fessBaseUrl: fess.url, domain: finance, ...more });
}

const health = { name: 'fess_finance_health', arguments: {} };

function assertInitialized({ result }: Message): void {
  const { protocolVersion, capabilities, serverInfo } = result as {
    protocolVersion: string;
    capabilities: { tools?: object; resources?: object; experimental?: { domain: object } };
    serverInfo: { domain: object };
  };
  assert.equal(protocolVersion, '2025-03-26');
  assert.ok(capabilities.tools && capabilities.resources);
  assert.deepEqual(capabilities.experimental?.domain, finance);
  assert.deepEqual(serverInfo.domain, finance);
}

verifies(
  [
    ...['001 AT-MCP-001', '000 §5.1 default revision', '000 §5.2 capabilities', '000 §5.3 domain'],
    ...['000 §7.6 server info', '000 §5.2 lifecycle', '000 §6.1 stdio', '000 §9.4 initialize'],
  ],
  'over stdio rejects tool calls before initialized, advertises the domain even if initialize is cancelled, writes only JSON-RPC, even with --debug, and exits at the end of input',
  async (t) => {
    const fess = await startFakeFess({ version: '15.4' });
    t.after(() => fess.close());
    const home = makeHome(t, { fessBaseUrl: fess.url, domain: finance });
    // A line that is not JSON fails the next wait.
    const client = startStdioClient(carrelProgram, ['fess', '--debug'], { HOME: home });
    const labels = { name: 'fess_finance_list_labels', arguments: {} };
    const early = await client.request(1, 'tools/call', labels);
    assert.equal(early.error?.code, -32_600);
    client.send({ jsonrpc: '2.0', id: 2, method: 'initialize', params: initializeParams('2025-03-26') });
    client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    assertInitialized(await client.next((message) => message['id'] === 2));
    const between = await client.request(3, 'tools/call', labels);
    assert.equal(between.error?.code, -32_600);
    assert.ok(!fess.requests.some(({ path }) => path.endsWith('/labels')), 'nothing was carried out');
    client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    assert.equal(dataOf(await client.request(4, 'tools/call', health))['status'], 'green');
    client.write('this is not JSON\n');
    const refused = await client.next((message) => message.error?.code === -32_700);
    assert.equal(refused['id'], null);
    assert.equal(await client.end(), 0);
  },
);

verifies(
  ['001 AT-MCP-001', '000 §5.2 lifecycle', '000 §5.3 domain', '000 §6.2 sse'],
  'over HTTP rejects tool calls before initialized, advertises the domain, and sends progress and answer as events',
  async (t) => {
    const program = await startListening(carrelProgram, ['fess'], { HOME: await makeFessHome(t) });
    t.after(async () => void (await program.stop()));
    const call = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: health };
    const early = await post(program.url, call);
    assert.equal(early.messages[0]?.error?.code, -32_600);
    const opened = await post(program.url, initializeMessage);
    assertInitialized(opened.messages[0] ?? {});
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const between = await post(program.url, call, headers);
    assert.equal(between.messages[0]?.error?.code, -32_600);
    const session = await openSession(program.url, '2025-03-26');
    assert.equal(dataOf((await session.send(call)).messages[0] ?? {})['status'], 'green');
    const answer = await session.call(1, 'fess_finance_search', { query: 'test' }, { progressToken: 7 });
    assert.match(String(answer.headers['content-type']), /^text\/event-stream/);
    assert.deepEqual(
      answer.messages.map((message) => message['method'] ?? 'answer'),
      ['notifications/progress', 'notifications/progress', 'answer'],
    );
  },
);

verifies(['001 AT-MCP-002', '000 §5.1 cody'], 'with --cody the revision is always 2024-11-05', async (t) => {
  const home = await makeFessHome(t);
  for (const asked of ['2025-03-26', '2025-11-25']) {
    const client = startStdioClient(carrelProgram, ['fess', '--cody'], { HOME: home });
    const answer = await client.handshake(asked);
    assert.equal(answer.result?.['protocolVersion'], '2024-11-05');
    assert.equal((await client.request(1, 'tools/call', health)).error, undefined);
    assert.equal(await client.end(), 0);
  }
});

verifies(
  ['000 §6.2 sessions', '000 §12 in flight'],
  'serves sessions concurrently, and each sees only its own jobs',
  async (t) => {
    const fess = await startFakeFess({ version: '15.4' });
    t.after(() => fess.close());
    const timeouts = { longRunningThresholdMs: 50 };
    const home = makeHome(t, { fessBaseUrl: fess.url, domain: finance, timeouts });
    const program = await startListening(carrelProgram, ['fess'], { HOME: home });
    t.after(async () => void (await program.stop()));
    const [first, second] = await Promise.all([httpPeer(t, program, program.url), httpPeer(t, program, program.url)]);
    fess.setFault({ kind: 'hold', path: 'q=slow' });
    const handle = dataOf(await first.call('search', { query: 'slow' }));
    assert.equal(dataOf(await second.call('search', { query: 'test', wait: true }))['total'], 0);
    assert.equal(dataOf(await first.call('job_get', { jobId: handle['jobId'] }))['state'], 'running');
    const foreign = await second.call('job_get', { jobId: handle['jobId'] });
    assert.equal(foreign.error?.data?.['code'], 'job_not_found');
    fess.setFault(null);
    fess.release();
  },
);

verifies(['001 AT-SEC-001', '000 §6.2 token'], 'answers 401 to every request without the bearer token', async (t) => {
  const home = await makeFessHome(t, { security: { httpAuthToken: 'correct-horse-battery' } });
  const program = await startListening(carrelProgram, ['fess'], { HOME: home });
  t.after(async () => void (await program.stop()));
  for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'correct-horse-battery' }]) {
    const refused = await post(program.url, initializeMessage, headers as Record<string, string>);
    assert.equal(refused.status, 401);
    assert.match(String(refused.headers['www-authenticate']), /^Bearer/);
  }
  assert.equal((await exchange(program.url, { method: 'GET' })).status, 401);
  assert.equal((await exchange(program.url, { method: 'DELETE' })).status, 401);
  const headers = { authorization: 'Bearer correct-horse-battery' };
  const session = await openSession(program.url, '2025-03-26', { headers });
  const { messages } = await session.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: health });
  assert.equal(messages[0]?.error, undefined);
  assert.ok(!program.stderrText().includes('correct-horse-battery'));
});

verifies('000 §6.2 sse', 'with enableSse false, answers are JSON and no stream opens', async (t) => {
  const home = await makeFessHome(t, { httpTransport: { enableSse: false, path: '/bridge' } });
  const program = await startListening(carrelProgram, ['fess'], { HOME: home });
  t.after(async () => void (await program.stop()));
  assert.ok(program.url.endsWith('/bridge'));
  const session = await openSession(program.url, '2025-03-26');
  const stream = await exchange(program.url, {
    method: 'GET',
    headers: { ...session.headers, accept: 'text/event-stream' },
  });
  assert.equal(stream.status, 405);
  const params = { ...health, _meta: { progressToken: 'p' } };
  const answer = await session.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.equal(answer.messages[0]?.error, undefined);
  const onlyStreams = await post(
    program.url,
    { jsonrpc: '2.0', id: 2, method: 'ping' },
    {
      ...session.headers,
      accept: 'text/event-stream',
    },
  );
  assert.equal(onlyStreams.status, 406);
});
