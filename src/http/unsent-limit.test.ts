import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { listen } from './listen.ts';

const answerBytes = 8 * 1024 * 1024;

/** Security bar T039: unread answers are bounded in total, not only per connection. */
test('disconnects clients that never read, and serves clients that do', async (context) => {
  const sockets = new Set<Socket>();
  const unsent = (): number =>
    [...sockets].reduce((sum, socket) => sum + (socket.destroyed ? 0 : socket.writableLength), 0);
  const cut = Promise.withResolvers<void>();
  let cuts = 0;
  let most = 0;
  const listener = await listen(
    '127.0.0.1',
    0,
    (request, response) => {
      const { socket } = request;
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        cuts += 1;
        if (cuts >= 6) cut.resolve();
      });
      response.end(Buffer.alloc(answerBytes));
      most = Math.max(most, unsent());
    },
    { onError() {}, limits: { unsentBytesMax: 3 * answerBytes } },
  );
  context.after(() => listener.close(0));
  const { port } = new URL(listener.origin);
  for (let index = 0; index < 10; index += 1) {
    const socket = connect(Number(port), '127.0.0.1').pause();
    socket.on('error', () => {});
    context.after(() => socket.destroy());
    await once(socket, 'connect');
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  }
  await cut.promise;
  assert.ok(most <= 3 * answerBytes, `${most} bytes were waiting`);
  const read = await (await fetch(listener.origin)).arrayBuffer();
  assert.equal(read.byteLength, answerBytes);
});
