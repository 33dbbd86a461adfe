import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { serveTcp } from '../../test/fakes/loopback-server.ts';
import { createServiceClient } from './service-client.ts';

test('does not take a broken connection for the end of a body', async (t) => {
  let connection: Socket | undefined;
  const { origin } = await serveTcp(t, (socket) => {
    connection = socket;
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf of it'));
  });
  const client = createServiceClient({ baseUrl: origin, headers: {}, timeoutMs: 200, answerBytesMax: 1000 });
  const request = { method: 'GET', path: '/' };
  await assert.rejects(client.request(request), { fault: 'timeout' });
  const read = async (use: () => void) => {
    const { content } = await client.open(request);
    use();
    for await (const _part of content);
  };
  await assert.rejects(
    read(() => {}),
    { fault: 'timeout' },
  );
  await assert.rejects(
    read(() => connection?.resetAndDestroy()),
    { fault: 'incomplete' },
  );
});

test('returns a complete body even if the connection breaks before it is read', async (t) => {
  const { origin } = await serveTcp(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more'));
  });
  const client = createServiceClient({ baseUrl: origin, headers: {}, timeoutMs: 10_000, answerBytesMax: 1000 });
  assert.equal(String((await client.request({ method: 'GET', path: '/' })).body), 'hello');
  const { content } = await client.open({ method: 'GET', path: '/' });
  let read = '';
  for await (const part of content) read += Buffer.from(part).toString();
  assert.equal(read, 'hello');
});
