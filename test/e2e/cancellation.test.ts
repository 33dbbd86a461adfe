import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { echoProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { exchange, modernRequest, openSession, openStream, type RawSession } from '../support/raw-http.ts';
import { type StdioClient, startStdioClient } from '../support/stdio-client.ts';

const forever = 60_000;
const slow = (id: string | number, marker: string, delayMs = forever) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'slow', arguments: { marker, delay_ms: delayMs } },
});
const cancelled = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

describe('cancellation over HTTP (contract §2, T043)', () => {
  let program: ListeningProgram;
  let session: RawSession;
  before(async () => {
    program = await startListening(echoProgram);
    session = await openSession(program.url);
  });
  after(() => program.stop());

  for (const [index, id] of [0, 7, '7', ''].entries()) {
    it(`stops the tool, ends the exchange and answers nothing (id ${JSON.stringify(id)})`, async () => {
      const marker = `own-${index}`;
      const call = session.send(slow(id, marker));
      await program.waitForOutput(new RegExp(`^started ${marker}$`, 'm'));
      await session.send(cancelled(id));
      const { text, messages } = await call;
      assert.deepEqual([text, messages], ['', []]);
      await program.waitForOutput(new RegExp(`^aborted ${marker}$`, 'm'));
    });
  }

  it('ends a stream that has begun, without an answer', async () => {
    const params = {
      name: 'count',
      arguments: { marker: 'm', steps: 100, delay_ms: 100 },
      _meta: { progressToken: 't' },
    };
    const call = { jsonrpc: '2.0', id: 'stream', method: 'tools/call', params };
    const stream = await openStream(program.url, session.headers, call);
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    await session.send(cancelled('stream'));
    await stream.ended;
    assert(stream.messages().every((message) => message['method'] === 'notifications/progress'));
  });

  it('ignores unknown, finished, foreign and invalid ids', async () => {
    const other = await openSession(program.url);
    const call = session.send(slow(42, 'kept', 500));
    await program.waitForOutput(/^started kept$/m);
    await other.send(cancelled(42));
    for (const id of ['42', 4242, null, {}, 4.2, undefined]) await session.send(cancelled(id));
    const { messages } = await call;
    assert.deepEqual(messages[0]?.result?.['structuredContent'], { marker: 'kept' });
    await session.send(cancelled(42));
    assert((await session.call(43, 'echo', { text: 'x' })).messages[0]?.result);
  });

  it('T044: in 2025 a client that hangs up does not cancel', async () => {
    const controller = new AbortController();
    const call = session.send(slow('left', 'left', 300), { signal: controller.signal });
    call.catch(() => {});
    await program.waitForOutput(/^started left$/m);
    controller.abort();
    await program.waitForOutput(/^finished left$/m);
    assert.doesNotMatch(program.stderrText(), /^aborted left$/m);
  });

  it('T044: in 2026-07-28 hanging up is how a client cancels', async () => {
    const controller = new AbortController();
    const { headers, message } = modernRequest('tools/call', {
      name: 'slow',
      arguments: { marker: 'cut', delay_ms: forever },
    });
    const call = exchange(program.url, { headers, body: JSON.stringify(message), signal: controller.signal });
    call.catch(() => {});
    await program.waitForOutput(/^started cut$/m);
    controller.abort();
    await program.waitForOutput(/^aborted cut$/m);
  });

  it('ending the session stops its running requests', async () => {
    const ending = await openSession(program.url);
    const call = ending.send(slow(1, 'ended'));
    call.catch(() => {});
    await program.waitForOutput(/^started ended$/m);
    assert.equal((await exchange(program.url, { method: 'DELETE', headers: ending.headers })).status, 200);
    await program.waitForOutput(/^aborted ended$/m);
    await call.catch(() => {});
  });
});

describe('cancellation over stdio (contract §2, T043)', () => {
  const run = (revision: string, test: (client: StdioClient) => Promise<void>) => async () => {
    const client = startStdioClient(echoProgram);
    await client.handshake(revision);
    await test(client);
    assert.equal(await client.end(), 0);
  };

  it(
    'stops the tool and answers nothing',
    run('2025-11-25', async (client) => {
      for (const id of [0, 'text']) {
        client.send(slow(id, `m-${id}`));
        await client.program.waitForOutput(new RegExp(`^started m-${id}$`, 'm'));
        client.send(cancelled(id));
        await client.program.waitForOutput(new RegExp(`^aborted m-${id}$`, 'm'));
      }
      await client.request('after', 'ping');
      assert.deepEqual(
        client.messages.filter(({ id }) => id === 0 || id === 'text'),
        [],
      );
    }),
  );

  it(
    'of one request in a batch leaves the other answers',
    run('2025-03-26', async (client) => {
      client.send([slow(1, 'batched'), { jsonrpc: '2.0', id: 2, method: 'ping' }]);
      await client.program.waitForOutput(/^started batched$/m);
      client.send(cancelled(1));
      const batch = await client.next((message) => Array.isArray(message));
      assert.deepEqual(Object.values(batch), [{ jsonrpc: '2.0', id: 2, result: {} }]);
    }),
  );
});

describe('broken streams are resumed (2025-11-25)', () => {
  let program: ListeningProgram;
  before(async () => {
    program = await startListening(echoProgram);
  });
  after(() => program.stop());

  it('the answer and missed events follow Last-Event-ID, only for their own session', async () => {
    const session = await openSession(program.url);
    const stranger = await openSession(program.url);
    const params = {
      name: 'count',
      arguments: { marker: 'm', steps: 5, delay_ms: 100 },
      _meta: { progressToken: 't' },
    };
    const stream = await openStream(program.url, session.headers, {
      jsonrpc: '2.0',
      id: 9,
      method: 'tools/call',
      params,
    });
    const firstId = await eventId(stream);
    stream.close();
    const resume = (headers: Record<string, string>) =>
      openStream(program.url, { ...headers, 'last-event-id': String(firstId) });
    assert.notEqual(
      (await resume(stranger.headers)).messages().some((message) => message['id'] === 9),
      true,
    );
    const resumed = await resume(session.headers);
    await resumed.ended;
    const steps = resumed
      .messages()
      .map((message) => (message['params'] as { progress?: number })?.progress ?? message['id']);
    assert.deepEqual(steps, [1, 2, 3, 4, 5, 9]);
  });

  it('rejects an unknown Last-Event-ID', async () => {
    const session = await openSession(program.url);
    for (const id of ['9-999999', 'nonsense', '-1-1']) {
      assert.equal((await openStream(program.url, { ...session.headers, 'last-event-id': id })).status, 400);
    }
  });

  it('a session has one standalone stream at a time', async () => {
    const session = await openSession(program.url);
    const first = await openStream(program.url, session.headers);
    assert.equal(first.status, 200);
    assert.equal((await openStream(program.url, session.headers)).status, 409);
    first.close();
  });
});

/** The id of the event that opens a stream. */
async function eventId(stream: { text: string }): Promise<string> {
  for (;;) {
    const found = /^id: (\S+)$/m.exec(stream.text)?.[1];
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
