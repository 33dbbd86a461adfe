import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import { carrelProgram, type ListeningProgram, startListening } from '../support/child-program.ts';
import { exchange, openSession, type RawSession } from '../support/raw-http.ts';
import { openSocket } from '../support/raw-socket.ts';

/*
 * Security bar T018, T161, "Fairness": no client's connections keep others from being served. All share one address and have
 * no token, which is the hardest case: only their behaviour distinguishes them.
 */

const env = { CARREL_CONNECTIONS_MAX: '200', CARREL_SESSIONS_MAX: '100' };
let program: ListeningProgram;
before(async () => {
  program = await startListening(carrelProgram, ['research', '--transport', 'http', '--port', '0'], env);
});
after(() => program.stop());

async function assertServed({ url }: ListeningProgram): Promise<void> {
  assert.equal((await exchange(String(new URL('/health', url)), { method: 'GET' })).status, 200);
  await assertWorks(await openSession(url));
}

async function assertWorks(session: RawSession): Promise<void> {
  const { status, messages } = await session.send({ jsonrpc: '2.0', id: 7, method: 'tools/list' });
  assert.equal(status, 200);
  assert.ok(messages[0]?.result);
}

async function inGroups<T>(count: number, size: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) made.push(...(await Promise.all(Array.from({ length: size }, make))));
  return made;
}

test('more idle connections than are allowed do not keep others out', async () => {
  const sockets = await inGroups(260, 20, () => openSocket(program.url));
  await assertServed(program);
  for (const socket of sockets) socket.destroy();
});

test('more sessions with open streams than are allowed do not lock others out, and a session in use continues', async () => {
  const mine = await openSession(program.url);
  await assertWorks(mine);
  const streams = await inGroups(110, 10, async () => {
    const session = await openSession(program.url);
    return openStream(program.url, session);
  });
  await assertServed(program);
  await assertWorks(mine);
  for (const stream of streams) stream.destroy();
});

test('a flood of initialize ends no session in use', async () => {
  const mine = await openSession(program.url);
  await assertWorks(mine);
  await inGroups(110, 10, () => openSession(program.url));
  await assertServed(program);
  await assertWorks(mine);
});

function openStream(url: string, session: RawSession): Promise<IncomingMessage> {
  const headers = { ...session.headers, accept: 'text/event-stream' };
  return new Promise((resolve, reject) => {
    const request = get(url, { headers, agent: false }, (response) => {
      response.on('error', () => {});
      resolve(response.resume());
    });
    request.on('error', reject);
  });
}
