import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClients } from './clients.ts';

const editor = { name: 'editor', version: '2', transport: 'http', caller: '127.0.0.1' } as const;
const ok = (at: number) => ({ tool: 'find', failed: false, at });

test('lists a client once, with its calls and whether it is connected', () => {
  const clients = createClients();
  const leave = [clients.connected(editor, 10), clients.connected(editor, 20)];
  clients.called(editor, ok(30));
  clients.called(editor, { tool: 'kb_search', failed: true, at: 40 });
  clients.called({ ...editor, name: 'script' }, ok(50));
  assert.deepEqual(clients.list()[0], {
    ...editor,
    since: 10,
    connections: 2,
    calls: 2,
    failures: 1,
    lastAt: 40,
    tools: ['kb_search', 'find'],
  });
  for (const gone of [...leave, ...leave]) gone();
  assert.deepEqual(
    clients.list().map(({ name, connections }) => [name, connections]),
    [
      ['script', 0],
      ['editor', 0],
    ],
  );
});

test('has a maximum size, and evicts connected clients last', () => {
  const clients = createClients();
  clients.connected(editor, 0);
  for (let index = 1; index <= 1_000; index += 1) clients.called({ ...editor, name: `script ${index}` }, ok(index));
  assert.equal(clients.list().length, 200);
  assert.equal(clients.list()[0]?.name, 'editor');
  assert.equal(clients.list()[1]?.name, 'script 1000');
});
