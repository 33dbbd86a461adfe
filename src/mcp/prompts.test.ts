import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { modernRequest } from '../../test/support/raw-http.ts';
import { silentLogger } from '../base/log.ts';
import { createCallJobs } from '../jobs/call-jobs.ts';
import type { Prompt } from '../tools/prompt.ts';
import { messageLimits } from './messages.ts';
import { createOffer } from './offer.ts';
import { everyRevision } from './protocol-versions.ts';
import { serveOverStdio } from './serve.ts';

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
  const [input, output] = [new PassThrough(), new PassThrough()];
  const offer = createOffer({
    serverInfo: { name: 'test', version: '1' },
    instructions: '',
    toolsets: [{ name: 'polite', failures: { as: 'jsonrpc' }, tools: [], prompts: [prompt] }],
    readOnly: false,
    disabledTools: [],
    inFlight: { runningMax: 10, waitingMax: 10 },
    jobs: createCallJobs(),
    log: silentLogger,
  });
  const service = serveOverStdio({ offer, revisions: everyRevision, limits: messageLimits, input, output });
  const lines = createInterface({ input: output })[Symbol.asyncIterator]();
  const results: Record<string, unknown>[] = [];
  for (const message of messages) {
    input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    if ('id' in message) results.push(JSON.parse((await lines.next()).value ?? '').result);
  }
  input.end();
  await service.closed;
  return results;
}

const completing = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'whom', value: 'w' } };
const completion = { values: ['world'], hasMore: false };

test('a prompt’s arguments are completed where there are no resources', async () => {
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

test('so they are where every request describes itself', async () => {
  const [answer] = await ask([modernRequest('completion/complete', completing).message]);
  assert.deepEqual(answer?.['completion'], completion);
});
