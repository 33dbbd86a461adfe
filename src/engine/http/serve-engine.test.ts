import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import { fullRights } from '../../base/rights.ts';
import { createRecorder } from '../../telemetry/recorder.ts';
import { createRegistry } from '../../telemetry/registry.ts';
import { serveEngine } from './serve-engine.ts';

test('does not keep watching a client that left during the token lookup', async (t) => {
  const [lookupStarted, disconnected] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const [looked, measured] = [Promise.withResolvers<string[]>(), Promise.withResolvers<string>()];
  const service = await serveEngine({
    host: '127.0.0.1',
    port: 0,
    path: '/api/v1',
    allowedHosts: [],
    allowedOrigins: [],
    tokens: {},
    fileBytesMax: 1,
    answerBytesMax: 65_536,
    readOnly: true,
    log: silentLogger,
    metrics: () => measured.promise,
    recorder: { ...createRecorder(createRegistry()), httpAnswer: () => disconnected.resolve() },
    authorities: [
      {
        isRequired: async () => true,
        async identify(name) {
          lookupStarted.resolve();
          if (name === 'goes') await disconnected.promise;
          return { name, identity: name, rights: fullRights, credential: name };
        },
        async areValid(principals) {
          looked.resolve(principals.map(({ name }) => name));
          return principals.map(() => true);
        },
      },
    ],
  });
  t.after(() => service.close(0));
  const get = (token: string) => {
    const sent = request(new URL('/metrics', service.url), { headers: { authorization: `Bearer ${token}` } });
    return sent.on('error', () => {}).end();
  };
  const goes = get('goes');
  await lookupStarted.promise;
  goes.destroy();
  await disconnected.promise;
  const stays = get('stays');
  assert.deepEqual(await looked.promise, ['stays']);
  measured.resolve('');
  stays.destroy();
});
