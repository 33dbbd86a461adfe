import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSessionLines } from './session-lines.ts';

test('a session is its handshake plus the current subscriptions', () => {
  const lines = createSessionLines();
  const add = (method: string, uri?: string, id?: number): void =>
    lines.add(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params: { uri } })));
  add('initialize', undefined, 1);
  add('notifications/initialized');
  for (let id = 2; id < 100; id += 2) {
    add('resources/list', undefined, id);
    add('resources/subscribe', 'a:1', id);
    add('resources/unsubscribe', 'a:1', id + 1);
  }
  add('resources/subscribe', 'a:2', 100);
  lines.add(Buffer.from('no JSON'));
  const replayed = [...lines.all()].map((bytes) => JSON.parse(bytes.toString()));
  assert.deepEqual(
    replayed.map(({ id, method }) => [method, id]),
    [
      ['initialize', 1],
      ['notifications/initialized', undefined],
      ['resources/list', 98],
      ['resources/subscribe', 100],
    ],
  );
});
