import assert from 'node:assert/strict';
import type { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { listen } from './listen.ts';

test('reports an error of the listening socket and keeps serving', async (context) => {
  const reported: Error[] = [];
  let server: EventEmitter | undefined;
  const listener = await listen(
    '127.0.0.1',
    0,
    (request, response) => {
      server = Reflect.get(request.socket, 'server');
      response.end('served');
    },
    { onError: (error) => reported.push(error) },
  );
  context.after(() => listener.close(0));
  const get = async () => (await fetch(listener.origin)).text();
  assert.equal(await get(), 'served');
  // As when the system cannot accept a connection: ENOMEM, ECONNABORTED, a firewall's EPERM.
  const error = Object.assign(new Error('accept ENOMEM'), { code: 'ENOMEM' });
  server?.emit('error', error);
  assert.deepEqual(reported, [error]);
  assert.equal(await get(), 'served');
});

test('explains a port that is in use', async (context) => {
  const first = await listen('127.0.0.1', 0, () => {}, { onError() {} });
  context.after(() => first.close(0));
  const port = Number(new URL(first.origin).port);
  await assert.rejects(
    listen('127.0.0.1', port, () => {}, { onError() {} }),
    { code: 'unavailable' },
  );
});
