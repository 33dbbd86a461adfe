import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Carrel, carrelProgram, startCarrel, startProgram } from '../support/child-program.ts';
import { until } from '../support/pause.ts';
import { modernRequest, openStream, type RawStream } from '../support/raw-http.ts';
import { watchText } from '../support/watch-text.ts';

type Fields = Record<string, unknown>;

const env = { EMBEDDING_PROVIDER: 'none', ENABLE_RERANKING: 'false' };
const toolsets = ['--toolsets', 'context,research'];
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const withTasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** A client up to 2025-11-25, with the notifications it received. */
async function connect(url: string) {
  const notified: string[] = [];
  const client = new Client({ name: 'test', version: '1.0.0' }, {});
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void notified.push(params.uri));
  client.setNotificationHandler('notifications/resources/list_changed', () => void notified.push('list'));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const call = async (name: string, args: Fields): Promise<Fields> =>
    (await client.callTool({ name, arguments: args })).structuredContent as Fields;
  return { client, notified, call };
}

describe('clients are notified of the changes they subscribed to, and no others', { timeout: 300_000 }, () => {
  const cleanUps: (() => unknown)[] = [];
  let server: Carrel;
  before(async () => {
    const owner = { after: (cleanUp: () => unknown) => void cleanUps.push(cleanUp) };
    server = await startCarrel(owner, ['serve', '--transport', 'http', ...toolsets], { env });
  });
  after(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  });

  const listen = (notifications: Fields, capabilities: object = {}): Promise<RawStream> => {
    const meta = { [capabilitiesKey]: capabilities };
    const { headers, message } = modernRequest('subscriptions/listen', { notifications, _meta: meta }, 'mine');
    return openStream(server.url, headers, message);
  };

  it('with a handshake: resources/subscribe, and list changes for clients that have listed', async () => {
    const [writer, reader, other] = [await connect(server.url), await connect(server.url), await connect(server.url)];
    const { note } = (await writer.call('save_note', { title: 'A note', content: 'One' })) as { note: Fields };
    const entry = await writer.call('store_context', { thread_id: 't', source: 'agent', text: 'A thought' });
    const uris = [`carrel://notes/${note['id']}`, `carrel://context/${entry['context_id']}`];
    for (const uri of uris) await reader.client.subscribeResource({ uri });
    await reader.client.listResources();
    await assert.rejects(reader.client.subscribeResource({ uri: 'carrel://notes/none' }));
    await assert.rejects(reader.client.subscribeResource({ uri: 'file:///etc/passwd' }));
    for (const n of [1, 2, 3, 4, 5]) await writer.call('update_note', { id: note['id'], content: `Again ${n}` });
    await writer.call('update_context', { context_id: entry['context_id'], text: 'Another thought' });
    await writer.call('save_note', { title: 'Another', content: 'Two' });
    await until(() => [...uris, 'list'].every((each) => reader.notified.includes(each)));
    // Five quick changes are merged into fewer messages.
    assert.ok(reader.notified.filter((each) => each === uris[0]).length < 5);
    assert.deepEqual([...writer.notified, ...other.notified], []);
    await reader.client.unsubscribeResource({ uri: String(uris[0]) });
    const before = reader.notified.length;
    await writer.call('update_note', { id: note['id'], content: 'Unheard' });
    await writer.call('update_context', { context_id: entry['context_id'], text: 'Heard' });
    await until(() => reader.notified.slice(before).includes(String(uris[1])));
    assert.ok(!reader.notified.slice(before).includes(String(uris[0])));
    await Promise.all([writer, reader, other].map(({ client }) => client.close()));
  });

  it('2026-07-28: subscriptions/listen is acknowledged with its scope and ended with a result', async () => {
    const writer = await connect(server.url);
    const { note } = (await writer.call('save_note', { title: 'A note', content: 'One' })) as { note: Fields };
    const uri = `carrel://notes/${note['id']}`;
    const stream = await listen({
      ...{ resourcesListChanged: true, toolsListChanged: true },
      ...{ resourceSubscriptions: [uri, 'file:///etc/passwd'] },
    });
    await until(() => stream.messages().length > 0);
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 'mine' };
    const notifications = { resourcesListChanged: true, resourceSubscriptions: [uri] };
    assert.deepEqual(stream.messages()[0]?.params, { notifications, _meta });
    await writer.call('update_note', { id: note['id'], content: 'Two' });
    await writer.call('delete_note', { id: note['id'] });
    await until(() => stream.messages().length > 2);
    const notified = stream.messages().slice(1);
    assert.ok(
      notified.some(
        ({ method, params }) => method === 'notifications/resources/updated' && (params as Fields)['uri'] === uri,
      ),
    );
    assert.ok(notified.some(({ method }) => method === 'notifications/resources/list_changed'));
    assert.ok(notified.every(({ params }) => JSON.stringify((params as Fields)['_meta']) === JSON.stringify(_meta)));
    stream.close();
    const nothing = await listen({ promptsListChanged: true });
    await nothing.ended;
    assert.equal(nothing.messages()[1]?.result?.['resultType'], 'complete');
    await writer.client.close();
  });

  it('rejects malformed, excessive and undeclared subscriptions', async () => {
    const answers = await Promise.all([
      listen({ taskIds: ['x'] }),
      listen({ taskIds: 'x' }, withTasks),
      listen({ resourceSubscriptions: Array(101).fill('carrel://notes/1') }),
      listen([] as never),
    ]);
    await Promise.all(answers.map(({ ended }) => ended));
    const codes = answers.map(({ text }) => (JSON.parse(text) as { error: Fields }).error['code']);
    assert.deepEqual(codes, [-32_021, -32_602, -32_602, -32_602]);
    const absent = await listen({ taskIds: ['A'.repeat(32)] }, withTasks);
    await absent.ended;
    assert.deepEqual(absent.messages()[0]?.params, {
      notifications: {},
      _meta: { 'io.modelcontextprotocol/subscriptionId': 'mine' },
    });
    const streams = await Promise.all(Array.from({ length: 25 }, () => listen({ resourcesListChanged: true })));
    assert.equal(streams.filter(({ status }) => status === 200).length, 20);
    for (const stream of streams) stream.close();
    // Closed subscriptions free their slots.
    for (;;) {
      const again = await listen({ resourcesListChanged: true });
      again.close();
      if (again.status === 200) break;
    }
  });

  it('on stdio: until it is cancelled, and the process exits with its client', async () => {
    const program = startProgram(carrelProgram, ['serve', ...toolsets], env);
    const output = watchText(program.process.stdout);
    const send = (message: object): void => void program.process.stdin.write(`${JSON.stringify(message)}\n`);
    const request = (method: string, params: Fields, id: number): void =>
      send(modernRequest(method, params, id).message);
    request('subscriptions/listen', { notifications: { resourcesListChanged: true } }, 1);
    await output.waitForOutput(/subscriptions\/acknowledged/);
    request('tools/call', { name: 'save_note', arguments: { title: 'A', content: 'B' } }, 2);
    await output.waitForOutput(/resources\/list_changed.*"io.modelcontextprotocol\/subscriptionId":1/);
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', [capabilitiesKey]: {} };
    send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, _meta: meta } });
    request('subscriptions/listen', { notifications: { promptsListChanged: true } }, 3);
    await output.waitForOutput(/"id":3,"result"/);
    program.process.stdin.end();
    assert.equal(await program.exited, 0);
  });
});
