import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servePrompt } from '../../../test/support/prompt-server.ts';
import { modernRequest } from '../../../test/support/raw-http.ts';
import type { Prompt } from '../../tools/prompt.ts';

/** A stdio client, and a prompt that records the event-loop tick in which it is rendered. */
function open() {
  const started: { index: number; tick: number }[] = [];
  const prompt: Prompt = {
    name: 'note',
    title: 'Note',
    description: 'Records that it started.',
    arguments: [{ name: 'index', description: 'Which one it is.', required: true }],
    render: ({ index }) => {
      started.push({ index: Number(index), tick });
      return 'Noted.';
    },
  };
  let tick = 0;
  let isOpen = true;
  const count = (): void => {
    tick += 1;
    if (isOpen) setImmediate(count);
  };
  setImmediate(count);
  const server = servePrompt(prompt);
  return {
    ...server,
    /** Returns the prompts that had started when all requests were answered. */
    async end() {
      await server.end();
      isOpen = false;
      const perTick = Map.groupBy(started, (each) => each.tick);
      return {
        indexes: started.map(({ index }) => index),
        maxPerTick: Math.max(...[...perTick.values()].map(({ length }) => length)),
      };
    },
  };
}

const indexes = Array.from({ length: 100 }, (_, index) => index);
const params = (index: number) => ({ name: 'note', arguments: { index: String(index) } });
const request = (index: number) => ({ jsonrpc: '2.0', id: index, method: 'prompts/get', params: params(index) });

async function openWith(protocolVersion: string) {
  const client = open();
  const clientInfo = { name: 'test', version: '1' };
  const handshake = { protocolVersion, capabilities: {}, clientInfo };
  client.write([{ jsonrpc: '2.0', id: 'first', method: 'initialize', params: handshake }]);
  await client.line();
  client.write([{ jsonrpc: '2.0', method: 'notifications/initialized' }]);
  return client;
}

/** No burst of requests may stall the serving thread. */
test('starts requests of one chunk in order, at most eight per event-loop tick', async () => {
  const client = await openWith('2025-11-25');
  client.write(indexes.map(request));
  assert.deepEqual(await client.end(), { indexes, maxPerTick: 8 });
});

test('starts at most eight requests of a batch per tick', async () => {
  const client = await openWith('2025-03-26');
  client.write([indexes.map(request)]);
  const answers = await client.line();
  assert.equal(answers.length, indexes.length);
  assert.deepEqual(await client.end(), { indexes, maxPerTick: 8 });
});

test('starts at most eight requests of 2026-07-28 per tick', async () => {
  const client = open();
  client.write([modernRequest('prompts/get', params(0)).message]);
  await client.line();
  client.write(indexes.slice(1).map((index) => modernRequest('prompts/get', params(index), index).message));
  assert.deepEqual(await client.end(), { indexes, maxPerTick: 8 });
});

test('a request cancelled while waiting is not answered', async () => {
  const client = await openWith('2025-11-25');
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 99 } };
  client.write([...indexes.map(request), cancel]);
  const answered = indexes.slice(0, -1);
  for (const index of answered) assert.equal((await client.line()).id, index);
  await client.end();
  assert.equal(await client.rest(), '');
});
