import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { exchange, modernRequest, openSession, type RawSession } from '../support/raw-http.ts';
import { type Message, type StdioClient, startStdioClient } from '../support/stdio-client.ts';

interface Wire {
  name: string;
  open(): Promise<(text: string) => Promise<Message | undefined>>;
  close(): Promise<unknown>;
}

/** The same malformed messages on both transports, sent unchanged. */
for (const wire of [stdioWire(), httpWire()]) {
  describe(`malformed messages, over ${wire.name}`, () => {
    let send: (text: string) => Promise<Message | undefined>;
    before(async () => {
      send = await wire.open();
    });
    after(() => wire.close());

    const ping = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;

    for (const id of ['null', '1.5', '{}', '[]', 'true']) {
      it(`T008: the id ${id} is an invalid request`, async () => {
        const answer = await send(ping(id));
        assert.equal(answer?.error?.code, -32_600);
        assert.equal(answer?.['id'], null);
      });
    }

    const longId = JSON.stringify('x'.repeat(10_000));
    for (const id of ['0', '-7', '"1"', '""', longId]) {
      it(`T008: the id ${id.slice(0, 20)} comes back unchanged`, async () => {
        assert.equal(JSON.stringify((await send(ping(id)))?.['id']), id);
      });
    }

    for (const jsonrpc of ['', '"jsonrpc":"1.0",', '"jsonrpc":2.0,', '"jsonrpc":null,']) {
      it(`T010: ${jsonrpc === '' ? 'no jsonrpc' : jsonrpc.slice(0, -1)} is an invalid request`, async () => {
        const answer = await send(`{${jsonrpc}"id":9,"method":"ping"}`);
        assert.equal(answer?.error?.code, -32_600);
      });
    }

    for (const text of [
      '7',
      '"text"',
      'null',
      'true',
      '{"jsonrpc":"2.0","id":1}',
      '{"jsonrpc":"2.0","id":1,"method":7}',
    ]) {
      it(`${text} is an invalid request`, async () => {
        assert.equal((await send(text))?.error?.code, -32_600);
      });
    }

    for (const text of ['{', 'nonsense', '{"jsonrpc":"2.0",}', '\u0000', "{'a':1}"]) {
      it(`${JSON.stringify(text)} is a parse error`, async () => {
        assert.equal((await send(text))?.error?.code, -32_700);
      });
    }

    for (const params of ['null', '[]', '"text"', '7']) {
      it(`T012: rejects the params ${params}`, async () => {
        const answer = await send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
        assert.equal(answer?.error?.code, -32_602);
      });
    }

    const call = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
      it(`T012: ${name === '' ? 'the empty name' : name} is not a tool`, async () => {
        const answer = await send(call(`{"name":"${name}","arguments":{}}`));
        assert.equal(answer?.error?.code, -32_602);
        assert.equal(answer?.error?.data?.['code'], 'unknown_tool');
      });
      it(`T012: ${name === '' ? 'the empty name' : name} is neither an argument nor a method`, async () => {
        const strange = await send(call(`{"name":"echo","arguments":{"text":"x","${name}":{"polluted":1}}}`));
        assert.equal(strange?.error?.code, -32_602);
        const method = await send(`{"jsonrpc":"2.0","id":1,"method":"${name}"}`);
        assert.equal(method?.error?.code, -32_601);
      });
    }

    it('T012: unknown fields beside the known ones are ignored, and missing params are bad arguments', async () => {
      const fine = await send(call('{"name":"echo","arguments":{"text":"x"},"more":1,"__proto__":{"polluted":1}}'));
      assert.deepEqual(fine?.result?.['structuredContent'], { text: 'x' });
      const missing = await send('{"jsonrpc":"2.0","id":1,"method":"tools/call"}');
      assert.equal(missing?.error?.code, -32_602);
      const disabled = await send(call('{"name":"switched_off"}'));
      assert.equal(disabled?.error?.data?.['code'], 'tool_disabled');
    });

    it('T012: accepts JSON text for arrays and objects, and null for omitted fields (contract §2)', async () => {
      const taken = await send(call('{"name":"take","arguments":{"items":"[1,2]","metadata":"{\\"a\\":1}"}}'));
      assert.deepEqual(taken?.result?.['structuredContent'], { items: 2, keys: 1 });
      const empty = await send(call('{"name":"take","arguments":{"items":null}}'));
      assert.deepEqual(empty?.result?.['structuredContent'], { items: 0, keys: 0 });
    });
  });
}

describe('ids on the wire', () => {
  it('T008: an integer that exceeds a double comes back byte for byte', async () => {
    const program = await startListening(echoProgram);
    const session = await openSession(program.url);
    const { text } = await session.send('{"jsonrpc":"2.0","id":1152921504606846977,"method":"ping"}');
    assert.match(text, /"id":1152921504606846977/);
    await program.stop();
  });

  it('T009: two requests under the same id at the same time are both answered', async () => {
    const client = startStdioClient(echoProgram);
    await client.handshake();
    for (const text of ['first', 'second']) {
      client.send({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'echo', arguments: { text } } });
    }
    const answer = (text: string) =>
      client.next(
        ({ id, result }) => id === 5 && JSON.stringify(result?.['structuredContent']) === `{"text":"${text}"}`,
      );
    await Promise.all([answer('first'), answer('second')]);
    await client.end();
  });
});

describe('T036: batches', () => {
  let program: ListeningProgram;
  before(async () => {
    program = await startListening(echoProgram);
  });
  after(() => program.stop());
  const pings = (count: number) => Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));

  for (const revision of ['2024-11-05', '2025-03-26']) {
    it(`are answered in ${revision}, up to 100 messages`, async () => {
      const session = await openSession(program.url, revision);
      for (const count of [1, 2, 100]) {
        const { status, messages } = await session.send(pings(count));
        assert.equal(status, 200);
        assert.deepEqual(
          messages.map(({ id }) => id).sort(byNumber),
          pings(count).map(({ id }) => id),
        );
      }
      for (const bad of [pings(101), pings(10_000), []]) {
        const { status, messages } = await session.send(bad);
        assert.equal(status, 400);
        assert.equal(messages[0]?.error?.code, -32_600);
      }
    });
  }

  it('with only notifications are accepted without an answer', async () => {
    const session = await openSession(program.url, '2025-03-26');
    const { status, text } = await session.send([{ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }]);
    assert.deepEqual([status, text], [202, '']);
  });

  it('with good, bad and nested messages get an answer to each', async () => {
    const session = await openSession(program.url, '2025-03-26');
    const { messages } = await session.send([{ jsonrpc: '2.0', id: 1, method: 'ping' }, 7, [pings(1)], { id: 2 }]);
    assert.deepEqual(messages.map(({ error }) => error?.code ?? 0).sort(byNumber), [-32_600, -32_600, -32_600, 0]);
  });

  for (const revision of ['2025-06-18', '2025-11-25']) {
    it(`are rejected in ${revision}`, async () => {
      const session = await openSession(program.url, revision);
      assert.equal((await session.send(pings(2))).status, 400);
    });
  }

  it('are rejected in 2026-07-28', async () => {
    const { headers, message } = modernRequest('tools/list');
    const answer = await exchange(program.url, { headers, body: JSON.stringify([message, message]) });
    assert.equal(answer.status, 400);
  });
});

function byNumber(left: unknown, right: unknown): number {
  return Number(left) - Number(right);
}

function stdioWire(): Wire {
  let client: StdioClient;
  return {
    name: 'stdio',
    async open() {
      client = startStdioClient(echoProgram);
      await client.handshake();
      return async (text) => {
        const seen = client.messages.length;
        client.write(`${text}\n`);
        return client.next((message) => client.messages.indexOf(message) >= seen);
      };
    },
    close: () => client.end(),
  };
}

function httpWire(): Wire {
  let program: ListeningProgram;
  let session: RawSession;
  return {
    name: 'HTTP',
    async open() {
      program = await startListening(echoProgram);
      session = await openSession(program.url);
      return async (text) => (await session.send(text)).messages[0];
    },
    close: () => program.stop(),
  };
}
