import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { openEventStream } from './event-stream.ts';

test('closes a stream whose client disconnected before it opened', async (t) => {
  const closed = Promise.withResolvers<boolean>();
  const server = createServer(async (_request, response) => {
    asking.destroy();
    await once(response, 'close');
    const stream = openEventStream(response, {}, () => closed.resolve(stream.open));
    stream.send({});
  });
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const asking = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }).on('error', () => {});
  assert.equal(await closed.promise, false);
});
