import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { exchange, jsonHeaders, openSession, post, type RawSession } from '../support/raw-http.ts';
import { closed, openSocket, statusOf } from '../support/raw-socket.ts';
import { type StdioClient, startStdioClient } from '../support/stdio-client.ts';

const mebibyte = 1024 * 1024;
/** T037: how much all bombs together may add to the peak resident memory. */
const growthBytesMax = 150 * mebibyte;

interface Bomb {
  name: string;
  body: string;
  code: number;
}

const call = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"take","arguments":${args}}}`;

const bombs: readonly Bomb[] = [
  { name: 'T037: 2,000,000 numbers', body: call(`{"items":[${'1,'.repeat(1_999_999)}1]}`), code: -32_600 },
  { name: 'T037: 1,300,000 empty objects', body: call(`{"items":[${'{},'.repeat(1_299_999)}{}]}`), code: -32_600 },
  { name: 'T037: 400,000 keys', body: call(`{"metadata":{${manyKeys(400_000)}}}`), code: -32_600 },
  { name: 'T013: a million arrays in one another', body: call(nested(1_000_000, '[', ']')), code: -32_600 },
  { name: 'T013: as many objects', body: call(nested(500_000, '{"a":', '}', '1')), code: -32_600 },
  { name: 'T013: as many that are never closed', body: '['.repeat(2_000_000), code: -32_600 },
  { name: 'T036: a batch of 10,000', body: `[${Array(10_000).fill(call('{}')).join(',')}]`, code: -32_600 },
  { name: 'a string that hides a million brackets', body: `"${'['.repeat(1_000_000)}`, code: -32_700 },
  { name: 'strings of backslashes', body: `["${'\\\\'.repeat(1_900_000)}`, code: -32_700 },
];

/** A lone continuation byte, a truncated character, an overlong slash, half a surrogate pair, Latin-1. */
const noText = ['80', 'e282', 'c0af', 'eda080', 'e9'].map((hex) =>
  Buffer.concat([
    Buffer.from('{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a'),
    Buffer.from(hex, 'hex'),
    Buffer.from('"}}}'),
  ]),
);

describe('rejects a bomb over HTTP, and serves others meanwhile and afterwards', () => {
  let program: ListeningProgram;
  let session: RawSession;
  let other: RawSession;
  let quiet: number;
  before(async () => {
    program = await startListening(echoProgram);
    session = await openSession(program.url, '2025-03-26');
    other = await openSession(program.url);
    quiet = program.memory().now;
  });
  after(() => program.stop());

  for (const { name, body, code } of bombs) {
    it(name, async () => {
      assert(body.length < 4 * mebibyte);
      const [answer, health] = await Promise.all([session.send(body), healthy(program), served(other)]);
      assert.equal(answer.status, 400);
      assert.equal(answer.messages[0]?.error?.code, code);
      assert.doesNotMatch(answer.text, /call stack|heap|RangeError/);
      assert.deepEqual(JSON.parse(health), { status: 'ok', version: '1.0.0' });
      assert(program.memory().peak - quiet < growthBytesMax);
      await served(session);
      await served(other);
    });
  }

  it('rejects invalid UTF-8', async () => {
    for (const body of noText) {
      const answer = await exchange(program.url, { headers: jsonHeaders, body });
      assert.equal(answer.status, 400);
      assert.equal(answer.messages[0]?.error?.code, -32_700);
      assert.match(String(answer.messages[0]?.error?.message), /UTF-8/);
    }
    await served(other);
  });

  it('the same bombs as messages of 2026-07-28', async () => {
    for (const { body, code } of bombs) {
      const answer = await post(program.url, body, {
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
      });
      assert.equal(answer.status, 400);
      assert.equal(answer.messages[0]?.error?.code, code);
    }
    assert(program.memory().peak - quiet < growthBytesMax);
    await served(other);
  });

  it('T035: a chunked body that never ends is cut off at the limit', async () => {
    const socket = await openSocket(program.url);
    let answer = '';
    socket.setEncoding('latin1').on('data', (part: string) => {
      answer += part;
    });
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const chunk = `${mebibyte.toString(16)}\r\n${' '.repeat(mebibyte)}\r\n`;
    const pour = (error?: Error | null): void => {
      if (!error && !socket.destroyed) socket.write(chunk, pour);
    };
    pour();
    await served(other);
    await closed(socket);
    assert.equal(statusOf(answer), 413);
    assert(program.memory().peak - quiet < growthBytesMax);
    await served(other);
  });

  it('rejects an overlong body by its declared length', async () => {
    const socket = await openSocket(program.url);
    const answer = new Promise<string>((resolve) => socket.setEncoding('latin1').once('data', resolve));
    const head = ['POST /mcp HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${5 * mebibyte}\r\n\r\n`);
    assert.equal(statusOf(await answer), 413);
    socket.destroy();
  });

  it("rejects arguments at a tool's limit briefly", async () => {
    const items = Array.from({ length: 50_000 }, () => 1);
    const { messages, text } = await session.call(5, 'take', { items });
    assert.equal(messages[0]?.error?.code, -32_602);
    assert.match(String(messages[0]?.error?.message), /items must have at most 1000 items/);
    assert(text.length < 1000);
  });
});

describe('rejects a bomb over stdio, and the conversation continues', () => {
  let client: StdioClient;
  let quiet: number;
  before(async () => {
    client = startStdioClient(echoProgram);
    await client.handshake('2025-03-26');
    quiet = client.program.memory().now;
  });
  after(async () => {
    assert.equal(await client.end(), 0);
  });

  const lines: readonly Bomb[] = [
    ...bombs,
    { name: 'T035: a line that is longer than a message may be', body: ' '.repeat(6 * mebibyte), code: -32_600 },
  ];
  for (const { name, body, code } of lines) {
    it(name, async () => {
      const seen = client.messages.length;
      client.write(`${body}\n`);
      const answer = await client.next((message) => client.messages.indexOf(message) >= seen);
      assert.equal(answer.error?.code, code);
      // A single call gets the error under its id, so its client does not wait.
      assert.equal(answer['id'], body.startsWith('{') ? 1 : null);
      assert(client.program.memory().peak - quiet < growthBytesMax);
      const alive = await client.request(`after ${name}`, 'ping');
      assert.deepEqual(alive.result, {});
    });
  }

  it("rejects invalid UTF-8 under the message's id", async () => {
    for (const body of noText) {
      const seen = client.messages.length;
      client.write(Buffer.concat([body, Buffer.from('\n')]));
      const answer = await client.next((message) => client.messages.indexOf(message) >= seen);
      assert.deepEqual([answer['id'], answer.error?.code], [77, -32_700]);
      assert.match(String(answer.error?.message), /UTF-8/);
    }
  });
});

/** A complete call by another client. */
async function served(session: RawSession): Promise<void> {
  const { status, messages } = await session.call('other', 'echo', { text: 'there' });
  assert.equal(status, 200);
  assert.deepEqual(messages[0]?.result?.['structuredContent'], { text: 'there' });
}

/** T047 */
async function healthy({ url }: ListeningProgram): Promise<string> {
  const { status, text } = await exchange(String(new URL('/health', url)), { method: 'GET' });
  assert.equal(status, 200);
  return text;
}

function nested(depth: number, open: string, close: string, core = ''): string {
  return `{"items":${open.repeat(depth)}${core}${close.repeat(depth)}}`;
}

function manyKeys(count: number): string {
  return Array.from({ length: count }, (_, index) => `"${index.toString(36)}":1`).join(',');
}
