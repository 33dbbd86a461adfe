import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import { createCallJobs } from '../../jobs/call-jobs.ts';
import { localUser } from '../../tools/call.ts';
import { type Incoming, messageLimits, parseMessages } from '../messages/messages.ts';
import type { IncomingRequest } from '../methods/incoming-call.ts';
import { everyRevision } from '../protocol-versions.ts';
import { createServerFeatures } from '../server-features.ts';
import { createConversation, type Sink } from './conversation.ts';
import { createWatches } from './watches.ts';

type Message = { id?: unknown; method?: string; result?: unknown; error?: { code: number; message: string } };

type Handle = (method: string, signal: AbortSignal, request: IncomingRequest) => Promise<Record<string, unknown>>;

const features = createServerFeatures({
  serverInfo: { name: 'test', version: '1' },
  instructions: '',
  toolsets: [],
  readOnly: false,
  disabledTools: [],
  inFlight: { runningMax: 1, waitingMax: 1 },
  jobs: createCallJobs(),
  log: silentLogger,
});

function open(handle: Handle) {
  const messages: Message[] = [];
  let dropped = 0;
  let received = Promise.withResolvers<void>();
  const receive = (message: object): void => {
    messages.push(message as Message);
    received.resolve();
    received = Promise.withResolvers<void>();
  };
  const sink: Sink = {
    answer: receive,
    send: receive,
    dropped() {
      dropped += 1;
    },
  };
  const conversation = createConversation(
    {
      features,
      revisions: everyRevision.handshake,
      watches: createWatches({
        resourcesOf: () => features.resources,
        taskOf: () => Promise.reject(),
        log: silentLogger,
      }),
      transport: 'pipe',
      createMethods: () => ({
        names: [],
        has: () => false,
        capabilities: { tools: {} },
        answer: (method, _params, request) => handle(method, request.signal, request),
      }),
    },
    { ...localUser, id: 'test', owner: 'test' },
    { standalone: { send: receive } },
  );
  return {
    messages,
    conversation,
    droppedCount: () => dropped,
    async send(message: object): Promise<void> {
      const parsed = parseMessages(JSON.stringify({ jsonrpc: '2.0', ...message }), messageLimits);
      assert.ok(parsed.ok);
      await conversation.receive(parsed.incoming[0] as Incoming, sink);
    },
    async answers(count: number): Promise<Message[]> {
      while (messages.length < count) await received.promise;
      return messages;
    },
  };
}

const initialize = { id: 'i', method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } };
const initialized = { method: 'notifications/initialized' };

async function ready(handle: Handle) {
  const peer = open(handle);
  await peer.send(initialize);
  await peer.answers(1);
  await peer.send(initialized);
  peer.messages.length = 0;
  return peer;
}

test('performs only ping before the handshake is complete (contract §2, T001, T002)', async () => {
  const performed: string[] = [];
  const peer = open(async (method) => {
    performed.push(method);
    return {};
  });
  await peer.send({ id: 1, method: 'tools/list' });
  await peer.send({ id: 2, method: 'ping' });
  await peer.answers(2);
  await peer.send(initialize);
  await peer.answers(3);
  await peer.send({ id: 3, method: 'tools/list' });
  const [before, ping, , between] = await peer.answers(4);
  assert.deepEqual(before?.error, { code: -32600, message: 'Server not initialized' });
  assert.deepEqual(ping?.result, {});
  assert.deepEqual(between?.error, { code: -32600, message: 'Server not initialized' });
  assert.deepEqual(performed, []);
  await peer.send(initialized);
  await peer.send({ id: 4, method: 'tools/list' });
  assert.deepEqual((await peer.answers(5))[4]?.result, {});
});

test('rejects a second initialize without side effects (T003)', async () => {
  const peer = await ready(async () => ({ fine: true }));
  await peer.send(initialize);
  await peer.send({ id: 2, method: 'tools/list' });
  const [second, list] = await peer.answers(2);
  assert.equal(second?.error?.code, -32600);
  assert.deepEqual(list?.result, { fine: true });
});

test('initialize reports invalid parameters and can be repeated (T004)', async () => {
  const peer = open(async () => ({}));
  for (const params of [{}, { protocolVersion: 7 }, { protocolVersion: '2025-11-25', capabilities: 'x' }]) {
    await peer.send({ id: 1, method: 'initialize', params });
  }
  await peer.send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: { roots: 5 } },
  });
  for (const { error } of await peer.answers(4)) {
    assert.equal(error?.code, -32602);
    assert.equal(/zod|invalid_type|expected/i.test(error?.message ?? ''), false, error?.message);
  }
  await peer.send(initialize);
  assert.ok((await peer.answers(5))[4]?.result);
});

test('two requests under the same id are both answered (T009)', async () => {
  const pendingAnswers = [
    Promise.withResolvers<Record<string, unknown>>(),
    Promise.withResolvers<Record<string, unknown>>(),
  ];
  let next = 0;
  const peer = await ready(() => pendingAnswers[next++]?.promise ?? Promise.resolve({}));
  await peer.send({ id: 5, method: 'tools/list' });
  await peer.send({ id: 5, method: 'tools/list' });
  pendingAnswers[1]?.resolve({ n: 2 });
  pendingAnswers[0]?.resolve({ n: 1 });
  const answers = await peer.answers(2);
  const found = answers.map(({ id, result }) => JSON.stringify([id, result])).sort();
  assert.deepEqual(found, ['[5,{"n":1}]', '[5,{"n":2}]']);
});

test('a cancelled request is aborted and never answered, even if its id looks like another (T043)', async () => {
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
  await peer.send({ id: 0, method: 'tools/list' });
  await peer.send({ id: '0', method: 'tools/call' });
  await peer.send({ method: 'notifications/cancelled', params: { requestId: 'unknown' } });
  await peer.send({ method: 'notifications/cancelled', params: { requestId: 0 } });
  await aborted.promise;
  other.resolve({ mine: true });
  assert.deepEqual(
    (await peer.answers(1)).map(({ id }) => id),
    ['0'],
  );
  assert.equal(peer.droppedCount(), 1);
  assert.equal(peer.conversation.pending, 0);
});

test('initialize cannot be cancelled (contract §2, T007)', async () => {
  const peer = open(async () => ({}));
  const opening = peer.send(initialize);
  await peer.send({ method: 'notifications/cancelled', params: { requestId: 'i' } });
  await opening;
  assert.ok((await peer.answers(1))[0]?.result);
});

test('work that continues after its answer can be cancelled by the same id, once', async () => {
  let cancelled = 0;
  const peer = await ready(async (_method, _signal, request) => {
    request.keepCancellable?.(() => {
      cancelled += 1;
    });
    return {};
  });
  await peer.send({ id: 'slow', method: 'tools/call' });
  await peer.answers(1);
  await peer.send({ method: 'notifications/cancelled', params: { requestId: 'slow' } });
  await peer.send({ method: 'notifications/cancelled', params: { requestId: 'slow' } });
  assert.equal(cancelled, 1);
});

test('a question is answered by its id, rejected with an error, and withdrawn with its request', async () => {
  const outcomes: unknown[] = [];
  const allAsked = Promise.withResolvers<void>();
  let count = 0;
  const peer = await ready(async (_method, _signal, request) => {
    const asking = request.send('elicitation/create', { message: 'Sure?' }, 60_000);
    outcomes.push(await asking.catch((error: Error & { code?: number }) => error.code ?? error.name));
    count += 1;
    if (count === 3) allAsked.resolve();
    return {};
  });
  await peer.send({ id: 1, method: 'tools/call' });
  const [first] = await peer.answers(1);
  assert.deepEqual([first?.method, first?.id], ['elicitation/create', 0]);
  await peer.send({ id: 0, result: { action: 'accept' } });
  await peer.answers(2);
  await peer.send({ id: 2, method: 'tools/call' });
  await peer.answers(3);
  await peer.send({ id: 1, error: { code: -32601, message: 'Unknown method' } });
  await peer.answers(4);
  await peer.send({ id: 3, method: 'tools/call' });
  await peer.answers(5);
  await peer.send({ method: 'notifications/cancelled', params: { requestId: 3 } });
  await allAsked.promise;
  assert.equal(peer.messages.at(-1)?.method, 'notifications/cancelled');
  assert.deepEqual(outcomes, [{ action: 'accept' }, -32601, 'Error']);
});
