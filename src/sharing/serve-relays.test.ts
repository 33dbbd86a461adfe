import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../test/support/child-program.ts';
import { silentLogger } from '../base/log.ts';
import type { LineOutput } from '../mcp/stdio/peer.ts';
import { encodeFrame, frameKinds } from './frames.ts';
import { serveRelays } from './serve-relays.ts';

test('lines of a restored session wait for the replay and keep their order', async (t) => {
  const folder = makeFolder(t);
  const socketPath = join(folder, 'socket');
  const got: string[] = [];
  const repeated = Promise.withResolvers<void>();
  const last = Promise.withResolvers<void>();
  let output: LineOutput | undefined;
  const service = await serveRelays({
    socketPath,
    secret: 'secret',
    welcome: { pid: process.pid, bytesMax: 1_000 } as never,
    refusal: () => undefined,
    serveLines(_client, _log, lines) {
      output = lines;
      return {
        receive(bytes, line) {
          got.push(`${line} ${bytes}`);
          if (String(bytes) === 'subscribe') repeated.resolve();
          if (line === 2) last.resolve();
        },
        refuse() {},
        async finish() {},
        async abandon() {},
      };
    },
    createLog: () => silentLogger,
    outputAtStart: () => '',
    log: silentLogger,
    idleMs: 0,
    leave() {},
  });
  const socket = connect(socketPath);
  await once(socket, 'connect');
  socket.resume();
  const hello = JSON.stringify({ secret: 'secret', wants: 'service', client: 'one', folder });
  socket.write(
    Buffer.concat([
      encodeFrame(frameKinds.hello, 0, hello),
      encodeFrame(frameKinds.replay, 0, 'initialized'),
      encodeFrame(frameKinds.replay, 0, 'subscribe'),
      encodeFrame(frameKinds.line, 1, 'write'),
      encodeFrame(frameKinds.line, 2, 'read'),
    ]),
  );
  await repeated.promise;
  output?.noAnswer?.(0);
  assert.deepEqual(got, ['0 initialized', '0 subscribe']);
  output?.write({ result: {} }, 0);
  await last.promise;
  assert.deepEqual(got, ['0 initialized', '0 subscribe', '1 write', '2 read']);
  socket.destroy();
  await service.close(0);
});
