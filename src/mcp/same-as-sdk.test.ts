/*
 * The SDK is the reference: every answer must equal the one its schemas and servers give. For handshake revisions it
 * is used only here.
 * More messages: CARREL_SAME_RUNS=5000 node src/mcp/same-as-sdk.test.ts
 */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type JSONRPCMessage, Server, type Transport } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { echoToolset, failingToolset, slowToolset } from '../../test/support/echo-toolsets.ts';
import { size } from '../../test/support/sizes.ts';
import { silentLogger } from '../base/log.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import { type Caller, localUser } from '../tools/call.ts';
import { errorAnswer, messageLimits, parseMessages } from './messages/messages.ts';
import type { IncomingRequest } from './methods/incoming-call.ts';
import { createMethods } from './methods/methods.ts';
import { everyRevision } from './protocol-versions.ts';
import { loadModernProtocol, serveOverHttp, serveOverStdio } from './serve.ts';
import { createServerFeatures, type ServerFeatures, serverInfoFor } from './server-features.ts';
import type { ModernProtocol } from './sessions/modern-answers.ts';
import { readHandshake } from './sessions/read-handshake.ts';
import { requestOf } from './sessions/sdk-server.ts';
import { RpcError, rpcCodes } from './wire-errors.ts';

type Fields = Record<string, unknown>;

const runs = size({ quick: 60, full: 120, variable: 'CARREL_SAME_RUNS' });
const modern = '2026-07-28';

function createTestFeatures(): ServerFeatures {
  return createServerFeatures({
    serverInfo: { name: 'same', version: '1' },
    icons: [{ src: 'data:,' }],
    instructions: 'Both must say the same.',
    toolsets: [echoToolset, failingToolset, slowToolset],
    readOnly: false,
    disabledTools: ['switched_off'],
    inFlight: { runningMax: 8, waitingMax: 8 },
    jobs: createCallJobs(),
    log: silentLogger,
  });
}

/** `sdk`: the SDK answers all requests of 2026-07-28, even plainly valid ones. */
function createServeOptions(by: By) {
  const options = { features: createTestFeatures(), revisions: everyRevision, limits: messageLimits };
  return by === 'us' ? options : { ...options, modern: loadThroughSdk };
}

type By = 'us' | 'sdk';

async function loadThroughSdk(...args: Parameters<typeof loadModernProtocol>): Promise<ModernProtocol> {
  const protocol = await loadModernProtocol(...args);
  return { ...protocol, answersFor: (caller) => ({ ...protocol.answersFor(caller), read: () => undefined }) };
}

const caller: Caller = { ...localUser, id: 'same', owner: 'same' };

/** The SDK's server for one session, behind our message parser, which accepts any id and rejects invalid messages. */
function openReference(): Lines {
  const features = createTestFeatures();
  const methods = createMethods(features, { era: 'handshake', caller });
  const sdk = new Server(features.serverInfo, {
    instructions: features.instructions,
    supportedProtocolVersions: [...everyRevision.handshake],
    capabilities: methods.capabilities,
  });
  let revision: string | undefined;
  sdk.fallbackRequestHandler = async ({ method, params }, context) => {
    const attributes = { transport: 'pipe', revision } as const;
    const request: IncomingRequest = {
      ...requestOf(context, attributes),
      capabilities: sdk.getClientCapabilities(),
      send: (name, requestParams) => context.mcpReq.send({ method: name, params: requestParams } as never),
    };
    try {
      return await methods.answer(method, params, request);
    } catch (thrown) {
      // The SDK rewrites this code in every revision.
      if (!(thrown instanceof RpcError) || thrown.code !== rpcCodes.resourceNotFound) throw thrown;
      throw new RpcError(hiddenCode, thrown.message, thrown.data);
    }
  };
  let sent: Fields[] = [];
  let answered = Promise.withResolvers<void>();
  let original: unknown;
  const receive = (message: Fields): void => {
    const error = message['error'] as Fields | undefined;
    const restored = error?.['code'] === hiddenCode ? { error: { ...error, code: rpcCodes.resourceNotFound } } : {};
    const result = message['result'] as Fields | undefined;
    // The SDK doesn't know icons.
    if (result && 'protocolVersion' in result) result['serverInfo'] = serverInfoFor(features, revision ?? '');
    sent.push('method' in message ? message : { ...message, ...restored, id: original });
    if (!('method' in message)) answered.resolve();
    if (message['method'] !== 'elicitation/create') return;
    const accepted = { action: 'accept', content: { confirm: true } };
    transport.onmessage?.({ jsonrpc: '2.0', id: message['id'] as number, result: accepted });
  };
  const transport: Transport = {
    async start() {},
    async send(message) {
      receive(message as Fields);
    },
    async close() {},
    setProtocolVersion(version) {
      revision = version;
    },
  };
  const connected = sdk.connect(transport);
  const deliver = (message: object): void => transport.onmessage?.(message as JSONRPCMessage);
  return {
    send: (message) => void connected.then(() => deliver(message as Fields)),
    async exchange(message) {
      await connected;
      sent = [];
      answered = Promise.withResolvers();
      const read = parseMessages(JSON.stringify(message), messageLimits);
      assert.ok(read.ok);
      const [incoming] = read.incoming;
      if (incoming?.kind === 'invalid') return [errorAnswer(incoming.id, incoming.code, incoming.problem)];
      if (incoming?.kind !== 'request') return [];
      const { id, method } = incoming;
      original = id.value;
      const handshake = method === 'initialize' ? readHandshake(incoming.params) : incoming.params;
      if (method === 'initialize' && revision !== undefined) {
        const problem = 'Invalid request: this session is already initialized.';
        return [errorAnswer(id, rpcCodes.invalidRequest, problem)];
      }
      if (method !== 'initialize' && method !== 'ping' && revision === undefined) {
        return [errorAnswer(id, rpcCodes.invalidRequest, 'Server not initialized')];
      }
      if (typeof handshake === 'string' && !handshake.includes('malformed')) {
        return [errorAnswer(id, rpcCodes.invalidParams, `Invalid params: ${handshake}`)];
      }
      // Missing fields are filled in; the SDK validates the remainder.
      const filled = typeof handshake === 'string' ? withDefaults(incoming.params) : handshake;
      deliver({ jsonrpc: '2.0', id: 1, method, ...(filled === undefined ? {} : { params: filled }) });
      await answered.promise;
      const isRefused = method === 'initialize' && 'error' in (sent.at(-1) ?? {});
      return isRefused ? [errorAnswer(id, rpcCodes.invalidParams, `Invalid params: ${String(handshake)}`)] : sent;
    },
    close: () => sdk.close(),
  };
}

const hiddenCode = -42_002;

function withDefaults({ capabilities = {}, clientInfo, ...params }: Fields = {}): Fields {
  return { ...params, capabilities, clientInfo: { name: 'unknown', version: '0', ...Object(clientInfo) } };
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'same', version: '1' },
};

const odd = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(null, true, 0, -1, 1.5, 2 ** 60, '', 'x', '=?base64?eA==?=', [], {}, [{}]) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

const capabilities = fc.oneof(
  fc.constantFrom<unknown>(
    {},
    { elicitation: {} },
    { elicitation: { form: {} }, roots: { listChanged: true }, sampling: {} },
    { extensions: { 'io.modelcontextprotocol/tasks': {} } },
    { elicitation: { url: {} } },
    { elicitation: [] },
    { extensions: { a: 1 } },
    { roots: 5 },
    { experimental: { a: { b: [1] } }, unknown: 7 },
  ),
  odd,
);

const clientInfo = fc.oneof(
  fc.constantFrom<unknown>({ name: 'c', version: '2', title: 'C' }, { name: 'c' }, { name: 1, version: '2' }),
  odd,
);

const metaOfSession = fc.oneof(
  { weight: 3, arbitrary: fc.constant(undefined) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        progressToken: fc.oneof(fc.constantFrom<unknown>('p', 7), odd),
        'io.modelcontextprotocol/related-task': fc.oneof(fc.constant({ taskId: 't' }), odd),
        'io.modelcontextprotocol/clientInfo': clientInfo,
        other: odd,
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: odd },
);

const metaOfModern = fc.oneof(
  { weight: 3, arbitrary: fc.constant(envelope) },
  { weight: 2, arbitrary: fc.constantFrom('p', 7).map((progressToken) => ({ ...envelope, progressToken })) },
  {
    weight: 4,
    arbitrary: fc
      .record(
        {
          'io.modelcontextprotocol/protocolVersion': fc.constantFrom<unknown>(
            modern,
            modern,
            '2025-11-25',
            '2099-01-01',
            1,
          ),
          'io.modelcontextprotocol/clientCapabilities': capabilities,
          'io.modelcontextprotocol/clientInfo': clientInfo,
          'io.modelcontextprotocol/logLevel': fc.constantFrom('info', 'loud'),
          progressToken: fc.oneof(fc.constantFrom<unknown>('p', 7), odd),
        },
        { requiredKeys: [] },
      )
      .map((part): unknown => ({ ...envelope, ...part })),
  },
  { weight: 1, arbitrary: odd },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

const validCalls: readonly Fields[] = [
  { name: 'echo', arguments: { text: 'hello' } },
  { name: 'count', arguments: { marker: 'm', steps: 3 } },
  { name: 'take', arguments: { items: [1, 'a', null], metadata: { key: 12_345 } } },
  { name: 'take' },
  { name: 'large', arguments: { chars: 10 } },
  { name: 'fail_rpc', arguments: {} },
  { name: 'fail_result', arguments: {} },
  { name: 'crash_rpc' },
  { name: 'bury', arguments: { what: 'it' } },
  { name: 'switched_off' },
  { name: 'unknown' },
];

const call = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...validCalls) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...validCalls),
        fc.constantFrom('name', 'arguments', 'inputResponses', 'requestState'),
        odd,
      )
      .map(([valid, field, value]): Fields => ({ ...valid, [field]: value })),
  },
  {
    weight: 1,
    arbitrary: fc
      .dictionary(fc.constantFrom('text', 'items', 'metadata', 'chars', 'x'), odd)
      .chain((args) => fc.constantFrom('echo', 'take', 'large').map((name): Fields => ({ name, arguments: args }))),
  },
);

const otherParams = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<Fields | undefined>(undefined, {}, { uri: 'echo://a' }, { name: 'p' }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('uri', 'name', 'cursor', 'ref', 'argument', 'taskId', 'level'), odd),
  },
);

/** Excludes methods that open a stream or a session. */
const otherMethods = [
  ...['ping', 'tools/list', 'resources/list', 'resources/templates/list', 'resources/read', 'prompts/list'],
  ...['prompts/get', 'completion/complete', 'resources/subscribe', 'tasks/get', 'logging/setLevel', 'server/discover'],
  ...['initialize', 'constructor', ''],
];

function messages(meta: fc.Arbitrary<unknown>): fc.Arbitrary<Fields> {
  const request = fc.oneof(
    { weight: 3, arbitrary: call.map((params) => ({ method: 'tools/call', params })) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<{ method: string; params?: Fields }>(
        { method: 'tools/list' },
        { method: 'ping' },
        { method: 'resources/read', params: { uri: 'echo://a' } },
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...otherMethods), otherParams)
        .map(([method, params]) => ({ method, ...(params ? { params } : {}) })),
    },
  );
  const id = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(1, 'a', 0, -3, '') }, { weight: 1, arbitrary: odd });
  return fc.tuple(request, meta, id, rarely(fc.tuple(memberName, odd))).map(
    ([{ method, params }, meta, name, extra]): Fields => ({
      jsonrpc: '2.0',
      id: name,
      method,
      ...(params || meta !== undefined
        ? { params: { ...params, ...(meta === undefined ? {} : { _meta: meta }) } }
        : {}),
      ...(extra ? { [extra[0]]: extra[1] } : {}),
    }),
  );
}

function rarely<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const memberName = fc.constantFrom('params', 'method', 'jsonrpc', 'id', 'extra', 'result');

/** Removes what differs in every answer: incidents and signed question states. */
function comparable(messages: readonly unknown[]): unknown[] {
  const text = JSON.stringify(messages)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'incident')
    .replaceAll(/"requestState":"[^"]*"/g, '"requestState":"state"');
  return JSON.parse(text);
}

interface Wire {
  /** Sends the message and returns everything sent in reply. */
  exchange(message: unknown): Promise<unknown[]>;
  close(): Promise<void>;
}

async function openStdio(revision: string, by: By): Promise<Wire> {
  const wire = by === 'sdk' && revision !== modern ? openReference() : openLines(by);
  if (revision === modern) {
    await wire.exchange({ jsonrpc: '2.0', id: 'open', method: 'tools/list', params: { _meta: envelope } });
  } else {
    const clientInfo = { name: 's', version: '1' };
    const params = { protocolVersion: revision, capabilities: { elicitation: {} }, clientInfo };
    await wire.exchange({ jsonrpc: '2.0', id: 'open', method: 'initialize', params });
    wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }
  return wire;
}

interface Lines extends Wire {
  send(message: unknown): void;
}

function openLines(by: By): Lines {
  const input = new PassThrough();
  const output = new PassThrough();
  const service = serveOverStdio({ ...createServeOptions(by), input, output });
  let received: Fields[] = [];
  let remainder = '';
  const send = (message: unknown): void => void input.write(`${JSON.stringify(message)}\n`);
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (remainder + text).split('\n');
    remainder = lines.pop() ?? '';
    for (const line of lines) {
      const message = JSON.parse(line) as Fields;
      received.push(message);
      if (message['method'] === 'elicitation/create')
        send({ jsonrpc: '2.0', id: message['id'], result: { action: 'accept', content: { confirm: true } } });
    }
  });
  const waitFor = async (isDone: () => boolean): Promise<void> => {
    // All requests are answered within 50 turns of the event loop, or never.
    for (let tick = 0; tick < 50 && !isDone(); tick += 1) await new Promise(setImmediate);
  };
  const isAnswer = (message: unknown): boolean => Array.isArray(message) || !('method' in (message as Fields));
  const exchange = async (message: unknown): Promise<unknown[]> => {
    received = [];
    send(message);
    await waitFor(() => received.some(isAnswer));
    return received;
  };
  return {
    send,
    exchange,
    async close() {
      input.end();
      await service.closed;
    },
  };
}

async function compareOver(open: (by: By) => Promise<Wire>, sent: fc.Arbitrary<unknown>): Promise<void> {
  const [ours, sdks] = await Promise.all([open('us'), open('sdk')]);
  try {
    await fc.assert(
      fc.asyncProperty(sent, async (message) => {
        assert.deepEqual(comparable(await ours.exchange(message)), comparable(await sdks.exchange(message)));
      }),
      { numRuns: runs },
    );
  } finally {
    await Promise.all([ours.close(), sdks.close()]);
  }
}

for (const revision of everyRevision.handshake) {
  test(`on stdio, in ${revision}, every answer equals the SDK's`, () =>
    compareOver((by) => openStdio(revision, by), messages(metaOfSession)));
}

test(`on stdio, in ${modern}, every answer equals the SDK's`, () =>
  compareOver((by) => openStdio(modern, by), messages(metaOfModern)));

test('answers handshakes and later requests as the SDK does', async () => {
  const handshake = fc.record(
    {
      protocolVersion: fc.oneof(fc.constantFrom<unknown>(...everyRevision.handshake, '1999-01-01', modern), odd),
      capabilities: fc.oneof(
        capabilities,
        fc.constant({ experimental: { a: {} }, elicitation: { form: {}, url: {} } }),
      ),
      clientInfo: fc.oneof(fc.constant({ name: 'c', version: '2' }), clientInfo),
      _meta: metaOfSession,
      inputResponses: fc.constant({}),
    },
    { requiredKeys: ['protocolVersion', 'capabilities', 'clientInfo'] },
  );
  await fc.assert(
    fc.asyncProperty(handshake, async (params) => {
      const wires = [openLines('us'), openReference()];
      const [ours, sdks] = await Promise.all(
        wires.map(async (wire) => {
          const opened = await wire.exchange({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
          wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
          const called = await wire.exchange({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: validCalls[0] });
          const unknown = await wire.exchange({ jsonrpc: '2.0', id: 3, method: 'unknown' });
          await wire.close();
          return comparable([opened, called, unknown]);
        }),
      );
      assert.deepEqual(ours, sdks);
    }),
    { numRuns: runs },
  );
});

interface Sent {
  message: Fields;
  headers: Record<string, string>;
}

/** Usually the headers that the message requires. */
const withHeaders = fc
  .tuple(
    messages(metaOfModern),
    rarely(
      fc.tuple(fc.constantFrom('version', 'method', 'name'), fc.constantFrom('', 'x', '=?base64?ZWNobw==?=', 'drop')),
    ),
  )
  .map(([message, change]): Sent => {
    const { name, uri, taskId } = Object(message['params']) as Fields;
    const named = [name, uri, taskId].find((value) => typeof value === 'string' && /^[\x21-\x7e]+$/.test(value));
    const headers: Fields = {
      version: modern,
      method: message['method'],
      ...(named === undefined ? {} : { name: named }),
    };
    if (change) headers[change[0]] = change[1] === 'drop' ? undefined : change[1];
    const headerNames = { version: 'mcp-protocol-version', method: 'mcp-method', name: 'mcp-name' } as const;
    const entries = Object.entries(headerNames).flatMap(([key, header]) => {
      const value = headers[key];
      return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value) ? [[header, value]] : [];
    });
    return { message, headers: Object.fromEntries(entries) };
  });

async function openHttp(by: By): Promise<Wire & { url: string }> {
  const service = await serveOverHttp({
    ...createServeOptions(by),
    host: '127.0.0.1',
    port: 0,
    path: '/mcp',
    allowedHosts: [],
    allowedOrigins: [],
    tokens: {},
    sessions: { sessionsMax: 10, idleMs: 60_000 },
    acceptsBareCalls: false,
    health: () => ({}),
  });
  return {
    url: service.url,
    async exchange(sent) {
      const { message, headers } = sent as Sent;
      const response = await fetch(service.url, {
        method: 'POST',
        headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
        body: JSON.stringify(message),
      });
      const type = response.headers.get('content-type');
      const text = await response.text();
      const bodies =
        type === 'text/event-stream' ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data) : [text];
      return [response.status, type, ...bodies.map((each) => (each ? JSON.parse(each) : each))];
    },
    close: () => service.close(0),
  };
}

test(`over HTTP, in ${modern}, every answer and its status equal the SDK's`, () => compareOver(openHttp, withHeaders));
