import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { Rights } from '../base/rights.ts';
import { answerMetrics } from './metrics.ts';

test('refuses metrics to a restricted token', async (t) => {
  let rights: Rights = {};
  const server = createServer((request, response) => {
    void answerMetrics(request, response, { name: 'monitor', identity: 'monitor', rights }, async () => 'up 1\n');
  });
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = async (next: Rights) => {
    rights = next;
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    return [answer.status, (await answer.text()).includes('up 1')];
  };
  assert.deepEqual(await ask({}), [200, true]);
  assert.deepEqual(await ask({ readOnly: true }), [200, true]);
  for (const part of [{ toolsets: ['kb'] }, { collections: [] }, { threads: ['a'] }]) {
    assert.deepEqual(await ask(part), [403, false], JSON.stringify(part));
  }
});
