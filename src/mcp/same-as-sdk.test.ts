/*
 * Requests that are plainly in order go past the SDK (plain-request.ts). It remains the reference: whatever a client
 * sends, the answer must be the one that the SDK's own way through its schemas and servers gives. More messages:
 * CARREL_SAME_RUNS=5000 node src/mcp/same-as-sdk.test.ts
 */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { echoToolset, failingToolset, slowToolset } from '../../test/support/echo-toolsets.ts';
import { silentLogger } from '../base/log.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import type { Extension } from './extension.ts';
import { messageLimits } from './messages.ts';
import { createOffer } from './offer.ts';
import { everyRevision } from './protocol-versions.ts';
import { serveOverHttp, serveOverStdio } from './serve.ts';

type Fields = Record<string, unknown>;

const runs = Number(process.env['CARREL_SAME_RUNS'] ?? 120);
const modern = '2026-07-28';

/** Owns every request, so that the SDK answers all. */
const throughSdk: Extension = { install() {}, owns: () => true };

function createServing(extension: Extension | undefined) {
  const offer = createOffer({
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
  return { offer, revisions: everyRevision, limits: messageLimits, ...(extension ? { extension } : {}) };
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
      .chain((given) => fc.constantFrom('echo', 'take', 'large').map((name): Fields => ({ name, arguments: given }))),
  },
);

const otherParams = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<Fields | undefined>(undefined, {}, { uri: 'echo://a' }, { name: 'p' }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('uri', 'name', 'cursor', 'ref', 'argument', 'taskId', 'level'), odd),
  },
);

/** Not those that open a stream or a session. */
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
    ([{ method, params }, given, name, extra]): Fields => ({
      jsonrpc: '2.0',
      id: name,
      method,
      ...(params || given !== undefined
        ? { params: { ...params, ...(given === undefined ? {} : { _meta: given }) } }
        : {}),
      ...(extra ? { [extra[0]]: extra[1] } : {}),
    }),
  );
}

function rarely<Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

const memberName = fc.constantFrom('params', 'method', 'jsonrpc', 'id', 'extra', 'result');

/** What differs in every answer: incidents, and the proof that a question was asked. */
function comparable(said: readonly unknown[]): unknown[] {
  const text = JSON.stringify(said)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'incident')
    .replaceAll(/"requestState":"[^"]*"/g, '"requestState":"state"');
  return JSON.parse(text);
}

interface Wire {
  /** Sends the message and returns all that is said to it. */
  exchange(message: unknown): Promise<unknown[]>;
  close(): Promise<void>;
}

async function openStdio(revision: string, extension: Extension | undefined): Promise<Wire> {
  const wire = openLines(extension);
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

function openLines(extension: Extension | undefined): Wire & { send(message: unknown): void } {
  const input = new PassThrough();
  const output = new PassThrough();
  const service = serveOverStdio({ ...createServing(extension), input, output });
  let heard: Fields[] = [];
  let rest = '';
  const send = (message: unknown): void => void input.write(`${JSON.stringify(message)}\n`);
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const said = JSON.parse(line) as Fields;
      heard.push(said);
      if (said['method'] === 'elicitation/create')
        send({ jsonrpc: '2.0', id: said['id'], result: { action: 'accept', content: { confirm: true } } });
    }
  });
  const settled = async (enough: () => boolean): Promise<void> => {
    // Nothing here waits for anything but its own turns: what has not been answered by then is not.
    for (let turn = 0; turn < 50 && !enough(); turn += 1) await new Promise(setImmediate);
  };
  const isAnswer = (said: unknown): boolean => Array.isArray(said) || !('method' in (said as Fields));
  const exchange = async (message: unknown): Promise<unknown[]> => {
    heard = [];
    send(message);
    await settled(() => heard.some(isAnswer));
    return heard;
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

async function compareOver(open: (extension?: Extension) => Promise<Wire>, sent: fc.Arbitrary<unknown>): Promise<void> {
  const [ours, sdks] = await Promise.all([open(), open(throughSdk)]);
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
  test(`on stdio, in ${revision}, every answer is the SDK's`, () =>
    compareOver((extension) => openStdio(revision, extension), messages(metaOfSession)));
}

test(`on stdio, in ${modern}, every answer is the SDK's`, () =>
  compareOver((extension) => openStdio(modern, extension), messages(metaOfModern)));

test('every handshake is answered as the SDK does, and what follows it', async () => {
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
      const wires = [openLines(undefined), openLines(throughSdk)];
      const [ours, sdks] = await Promise.all(
        wires.map(async (wire) => {
          const opened = await wire.exchange({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
          wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
          const called = await wire.exchange({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: validCalls[0] });
          // For this one the SDK is needed, which has heard nothing of the handshake until then.
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

/** Mostly what a client has to send with the message. */
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
    const shown = { version: 'mcp-protocol-version', method: 'mcp-method', name: 'mcp-name' } as const;
    const written = Object.entries(shown).flatMap(([key, header]) => {
      const value = headers[key];
      return typeof value === 'string' && /^[\x20-\x7e]*$/.test(value) ? [[header, value]] : [];
    });
    return { message, headers: Object.fromEntries(written) };
  });

async function openHttp(extension: Extension | undefined): Promise<Wire & { url: string }> {
  const service = await serveOverHttp({
    ...createServing(extension),
    host: '127.0.0.1',
    port: 0,
    path: '/mcp',
    allowedHosts: [],
    allowedOrigins: [],
    tokens: {},
    sessions: { sessionsMax: 10, idleMs: 60_000 },
    bareCalls: false,
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
      const said = type === 'text/event-stream' ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data) : [text];
      return [response.status, type, ...said.map((each) => (each ? JSON.parse(each) : each))];
    },
    close: () => service.close(0),
  };
}

test(`over HTTP, in ${modern}, every answer is the SDK's, with its status`, () => compareOver(openHttp, withHeaders));
