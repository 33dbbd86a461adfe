import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server } from '@modelcontextprotocol/server';
import { createConversation, type Sink } from './conversation.ts';
import { type Incoming, messageLimits, parseMessages } from './messages.ts';

type Message = { id?: unknown; method?: string; result?: unknown; error?: { code: number; message: string } };

function open(handle: (method: string, signal: AbortSignal) => Promise<Record<string, unknown>>) {
  const said: Message[] = [];
  let dropped = 0;
  let heard = Promise.withResolvers<void>();
  const hear = (message: object): void => {
    said.push(message as Message);
    heard.resolve();
    heard = Promise.withResolvers<void>();
  };
  const sink: Sink = {
    answer: hear,
    tell: hear,
    dropped() {
      dropped += 1;
    },
  };
  const conversation = createConversation({ standalone: { tell: hear } });
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.fallbackRequestHandler = ({ method }, { mcpReq }) => handle(method, mcpReq.signal);
  return {
    said,
    conversation,
    droppedCount: () => dropped,
    connect: () =>
      conversation.attach({
        initialize: () => undefined,
        begin() {},
        takes: () => false,
        answer: () => Promise.reject(new Error('The SDK takes all.')),
        createSdk: async () => server,
        close() {},
      }),
    async say(message: object): Promise<void> {
      const parsed = parseMessages(JSON.stringify({ jsonrpc: '2.0', ...message }), messageLimits);
      assert.ok(parsed.ok);
      await conversation.receive(parsed.incoming[0] as Incoming, sink);
    },
    async answers(count: number): Promise<Message[]> {
      while (said.length < count) await heard.promise;
      return said;
    },
  };
}

const initialize = { id: 'i', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } };
const initialized = { method: 'notifications/initialized' };

async function ready(handle: Parameters<typeof open>[0]) {
  const peer = open(handle);
  await peer.connect();
  await peer.say(initialize);
  await peer.answers(1);
  await peer.say(initialized);
  peer.said.length = 0;
  return peer;
}

test('nothing but ping is carried out before the handshake is complete (contract §2, T001, T002)', async () => {
  const ran: string[] = [];
  const peer = open(async (method) => {
    ran.push(method);
    return {};
  });
  await peer.connect();
  await peer.say({ id: 1, method: 'tools/list' });
  await peer.say({ id: 2, method: 'ping' });
  await peer.answers(2);
  await peer.say(initialize);
  await peer.answers(3);
  await peer.say({ id: 3, method: 'tools/list' });
  const [before, ping, , between] = await peer.answers(4);
  assert.deepEqual(before?.error, { code: -32600, message: 'Server not initialized' });
  assert.deepEqual(ping?.result, {});
  assert.deepEqual(between?.error, { code: -32600, message: 'Server not initialized' });
  assert.deepEqual(ran, []);
  await peer.say(initialized);
  await peer.say({ id: 4, method: 'tools/list' });
  assert.deepEqual((await peer.answers(5))[4]?.result, {});
});

test('a second initialize is refused and harms nothing (T003)', async () => {
  const peer = await ready(async () => ({ fine: true }));
  await peer.say(initialize);
  await peer.say({ id: 2, method: 'tools/list' });
  const [second, list] = await peer.answers(2);
  assert.equal(second?.error?.code, -32600);
  assert.deepEqual(list?.result, { fine: true });
});

test('initialize says what is wrong with its parameters, and can then be sent right (T004)', async () => {
  const peer = open(async () => ({}));
  await peer.connect();
  for (const params of [{}, { protocolVersion: 7 }, { protocolVersion: '2025-11-25', capabilities: 'x' }]) {
    await peer.say({ id: 1, method: 'initialize', params });
  }
  await peer.say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: { roots: 5 } },
  });
  for (const { error } of await peer.answers(4)) {
    assert.equal(error?.code, -32602);
    assert.equal(/zod|invalid_type|expected/i.test(error?.message ?? ''), false, error?.message);
  }
  await peer.say(initialize);
  assert.ok((await peer.answers(5))[4]?.result);
});

test('two requests under the same id are both answered (T009)', async () => {
  const gates = [Promise.withResolvers<Record<string, unknown>>(), Promise.withResolvers<Record<string, unknown>>()];
  let next = 0;
  const peer = await ready(() => gates[next++]?.promise ?? Promise.resolve({}));
  await peer.say({ id: 5, method: 'tools/list' });
  await peer.say({ id: 5, method: 'tools/list' });
  gates[1]?.resolve({ n: 2 });
  gates[0]?.resolve({ n: 1 });
  const answers = await peer.answers(2);
  const found = answers.map(({ id, result }) => JSON.stringify([id, result])).sort();
  assert.deepEqual(found, ['[5,{"n":1}]', '[5,{"n":2}]']);
});

test('a cancelled request is aborted and never answered; its id may be a string that looks like another (T043)', async () => {
  const aborted = Promise.withResolvers<void>();
  const other = Promise.withResolvers<Record<string, unknown>>();
  const peer = await ready((method, signal) => {
    if (method !== 'tools/list') return other.promise;
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        aborted.resolve();
        resolve({ late: true });
      });
    });
  });
  await peer.say({ id: 0, method: 'tools/list' });
  await peer.say({ id: '0', method: 'tools/call' });
  await peer.say({ method: 'notifications/cancelled', params: { requestId: 'unknown' } });
  await peer.say({ method: 'notifications/cancelled', params: { requestId: 0 } });
  await aborted.promise;
  other.resolve({ mine: true });
  assert.deepEqual(
    (await peer.answers(1)).map(({ id }) => id),
    ['0'],
  );
  assert.equal(peer.droppedCount(), 1);
  assert.equal(peer.conversation.pending, 0);
});

test('initialize can not be cancelled (contract §2, T007)', async () => {
  const peer = open(async () => ({}));
  await peer.connect();
  const opening = peer.say(initialize);
  await peer.say({ method: 'notifications/cancelled', params: { requestId: 'i' } });
  await opening;
  assert.ok((await peer.answers(1))[0]?.result);
});

test('what goes on after its answer can be cancelled by the same id, once', async () => {
  let cancelled = 0;
  const peer = await ready(async () => ({}));
  await peer.say({ id: 'slow', method: 'tools/call' });
  peer.conversation.keepCancellable(2, () => {
    cancelled += 1;
  });
  await peer.answers(1);
  await peer.say({ method: 'notifications/cancelled', params: { requestId: 'slow' } });
  await peer.say({ method: 'notifications/cancelled', params: { requestId: 'slow' } });
  assert.equal(cancelled, 1);
});
