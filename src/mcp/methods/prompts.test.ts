import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servePrompt } from '../../../test/support/prompt-server.ts';
import { modernRequest } from '../../../test/support/raw-http.ts';
import type { Prompt } from '../../tools/prompt.ts';

const prompt: Prompt = {
  name: 'greet',
  title: 'Greet',
  description: 'Greets somebody.',
  arguments: [{ name: 'whom', description: 'Who is greeted.', required: true }],
  complete: async (_argument, typed) => ['world', 'moon'].filter((word) => word.startsWith(typed)),
  render: ({ whom }) => `Greet ${JSON.stringify(whom)}.`,
};

/** Sends each message when the one before it was answered. */
async function ask(messages: readonly object[]): Promise<Record<string, unknown>[]> {
  const server = servePrompt(prompt);
  const results: Record<string, unknown>[] = [];
  for (const message of messages) {
    server.write([{ jsonrpc: '2.0', ...message }]);
    if ('id' in message) results.push((await server.line()).result);
  }
  await server.end();
  return results;
}

const completing = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'whom', value: 'w' } };
const completion = { values: ['world'], hasMore: false };

test('completes a prompt’s arguments without resources', async () => {
  const [greeting, answer] = await ask([
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'completion/complete', params: completing },
  ]);
  assert.deepEqual(greeting?.['capabilities'], { tools: {}, prompts: {}, completions: {} });
  assert.deepEqual(answer?.['completion'], completion);
});

test('completes a prompt’s arguments in 2026-07-28 too', async () => {
  const [answer] = await ask([modernRequest('completion/complete', completing).message]);
  assert.deepEqual(answer?.['completion'], completion);
});
