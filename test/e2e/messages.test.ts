import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { exchange, modernRequest, openSession, post, type RawSession } from '../support/raw-http.ts';
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
    'T001, T002: nothing but ping is carried out before the handshake is complete',
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
    'T003: a second initialize is refused and harms nothing',
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
    'T005: a request that names an unknown revision learns which there are',
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
    'T006: initialize is refused as part of a batch',
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
    'T016: calls that are in flight when the input ends are answered',
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

  const newest = '2025-11-25';
  const offers = { every: undefined, fess: '2025-03-26', cody: '2024-11-05' };
  for (const [offer, pinned] of Object.entries(offers)) {
    it(`T004: whatever is asked for, the revision is one that is offered (${offer})`, async () => {
      const asked = {
        '2025-03-26': '2025-03-26',
        '2024-11-05': '2024-11-05',
        '2026-07-28': newest,
        '9999-01-01': newest,
      };
      for (const [protocolVersion, expected] of Object.entries({ ...asked, '': newest })) {
        const client = startStdioClient(echoProgram, ['--revisions', offer]);
        const { result } = await client.request(1, 'initialize', initializeParams(protocolVersion));
        assert.equal(result?.['protocolVersion'], pinned ?? expected, protocolVersion);
        await client.end();
      }
    });
  }

  it(
    'T004: a revision that is no string, or missing, is a bad argument, and the client may try again',
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

interface Wire {
  name: string;
  open(): Promise<(text: string) => Promise<Message | undefined>>;
  close(): Promise<unknown>;
}

/** The same malformed messages on both wires; each is sent as it is, and the answer to it comes back. */
for (const wire of [stdioWire(), httpWire()]) {
  describe(`messages that are not quite right, over ${wire.name}`, () => {
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
      it(`T008: the id ${id.slice(0, 20)} comes back as it was`, async () => {
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
      it(`T012: the params ${params} are refused`, async () => {
        const answer = await send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
        assert.equal(answer?.error?.code, -32_602);
      });
    }

    const call = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
      it(`T012: ${name === '' ? 'the empty name' : name} is no tool`, async () => {
        const answer = await send(call(`{"name":"${name}","arguments":{}}`));
        assert.equal(answer?.error?.code, -32_602);
        assert.equal(answer?.error?.data?.['code'], 'unknown_tool');
      });
      it(`T012: ${name === '' ? 'the empty name' : name} is no argument and no method`, async () => {
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

    it('T012: JSON text is taken where an array or object is wanted, and null for what is left out (contract §2)', async () => {
      const taken = await send(call('{"name":"take","arguments":{"items":"[1,2]","metadata":"{\\"a\\":1}"}}'));
      assert.deepEqual(taken?.result?.['structuredContent'], { items: 2, keys: 1 });
      const empty = await send(call('{"name":"take","arguments":{"items":null}}'));
      assert.deepEqual(empty?.result?.['structuredContent'], { items: 0, keys: 0 });
    });
  });
}

describe('ids on the wire', () => {
  it('T008: an integer that a double cannot hold comes back byte for byte', async () => {
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

  it('of notifications only are accepted without an answer', async () => {
    const session = await openSession(program.url, '2025-03-26');
    const { status, text } = await session.send([{ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }]);
    assert.deepEqual([status, text], [202, '']);
  });

  it('that mix good, bad and nested messages get an answer to each', async () => {
    const session = await openSession(program.url, '2025-03-26');
    const { messages } = await session.send([{ jsonrpc: '2.0', id: 1, method: 'ping' }, 7, [pings(1)], { id: 2 }]);
    assert.deepEqual(messages.map(({ error }) => error?.code ?? 0).sort(byNumber), [-32_600, -32_600, -32_600, 0]);
  });

  for (const revision of ['2025-06-18', '2025-11-25']) {
    it(`are refused in ${revision}`, async () => {
      const session = await openSession(program.url, revision);
      assert.equal((await session.send(pings(2))).status, 400);
    });
  }

  it('are refused in 2026-07-28', async () => {
    const { headers, message } = modernRequest('tools/list');
    const answer = await exchange(program.url, { headers, body: JSON.stringify([message, message]) });
    assert.equal(answer.status, 400);
  });
});

describe('the lifecycle over HTTP (contract §2)', () => {
  let program: ListeningProgram;
  before(async () => {
    program = await startListening(echoProgram);
  });
  after(() => program.stop());
  const call = (id: number, marker: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: slowCall(marker) });

  it('T001, T002: nothing but ping is carried out before the handshake is complete', async () => {
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

  it('T003: a second initialize in a session is refused and harms nothing', async () => {
    const session = await openSession(program.url);
    const { messages } = await session.send(initialize(1));
    assert.equal(messages[0]?.error?.code, -32_600);
    assert((await session.call(2, 'echo', { text: 'x' })).messages[0]?.result);
  });

  it('T056: a session that was ended, or never was, is not found', async () => {
    const session = await openSession(program.url);
    const gone = await exchange(program.url, { method: 'DELETE', headers: session.headers });
    assert.equal(gone.status, 200);
    assert.equal((await session.call(1, 'echo', { text: 'x' })).status, 404);
    const made = { ...session.headers, 'mcp-session-id': '00000000-0000-4000-8000-000000000000' };
    assert.equal((await post(program.url, { jsonrpc: '2.0', id: 1, method: 'ping' }, made)).status, 404);
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
