import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import * as z from 'zod';
import { silentLogger } from '../../base/log.ts';
import { createCallJobs } from '../../jobs/call-jobs.ts';
import { askToRemove, requireConfirmation } from '../../tools/question.ts';
import { defineTool } from '../../tools/tool.ts';
import { messageLimits } from '../messages/messages.ts';
import { everyRevision } from '../protocol-versions.ts';
import { serveOverStdio } from '../serve.ts';
import { createServerFeatures } from '../server-features.ts';

type Fields = Record<string, unknown>;

/** A stdio client that can show forms, and a tool that deletes things after confirmation. */
function open(answerMs: number) {
  let removed = 0;
  const remove = defineTool({
    name: 'remove',
    title: 'Remove',
    description: 'Removes all.',
    effect: 'change',
    input: z.object({}),
    output: z.object({ removed: z.int() }),
    questions: async () => askToRemove(['thing', 'things'], 7, { samples: [], about: 'seven' }),
    async run(_input, { answered }) {
      if (requireConfirmation(answered) === 'seven') removed += 7;
      return { removed };
    },
  });
  const features = createServerFeatures({
    serverInfo: { name: 'asking', version: '1' },
    instructions: '',
    toolsets: [{ name: 'things', tools: [remove], failures: { as: 'result' } }],
    readOnly: false,
    disabledTools: [],
    // A question that kept its slot would leave none for the next call.
    inFlight: { runningMax: 1, waitingMax: 0 },
    jobs: createCallJobs(),
    log: silentLogger,
    answerMs,
  });
  const input = new PassThrough();
  const output = new PassThrough();
  const service = serveOverStdio({ features, revisions: everyRevision, limits: messageLimits, input, output });
  const messages: Fields[] = [];
  let received = Promise.withResolvers<void>();
  let remainder = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (remainder + text).split('\n');
    remainder = lines.pop() ?? '';
    messages.push(...lines.map((line) => JSON.parse(line) as Fields));
    received.resolve();
    received = Promise.withResolvers();
  });
  const send = (message: Fields): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo };
  send({ id: 0, method: 'initialize', params });
  send({ method: 'notifications/initialized' });
  return {
    send,
    call: (id: number) => send({ id, method: 'tools/call', params: { name: 'remove' } }),
    removed: () => removed,
    /** The first matching message, received or still to come. */
    async wait(matches: (message: Fields) => boolean): Promise<Fields> {
      for (;;) {
        const match = messages.find(matches);
        if (match) return match;
        await received.promise;
      }
    },
    async close() {
      input.end();
      await service.closed;
    },
  };
}

const isQuestion = ({ method }: Fields): boolean => method === 'elicitation/create';
const isWithdrawn = ({ method }: Fields): boolean => method === 'notifications/cancelled';

/** The client must withdraw the form, and a late answer changes nothing. */
async function checkWithdrawn(client: ReturnType<typeof open>, question: unknown): Promise<void> {
  const { params } = await client.wait(isWithdrawn);
  assert.equal((params as Fields)['requestId'], question);
  client.send({ id: question, result: { action: 'accept', content: { confirm: true } } });
  client.send({ id: 2, method: 'ping' });
  await client.wait((message) => message['id'] === 2);
  assert.equal(client.removed(), 0);
}

test('an unanswered question ends the call with a clear error, and nothing is deleted', async () => {
  const client = open(50);
  client.call(1);
  const { id } = await client.wait(isQuestion);
  const { result } = await client.wait((message) => message['id'] === 1 && 'result' in message);
  const { isError, structuredContent } = result as { isError: boolean; structuredContent: { error: Fields } };
  assert.equal(isError, true);
  assert.equal(structuredContent.error['code'], 'not_confirmed');
  assert.match(String(structuredContent.error['message']), /no usable answer. Nothing was changed/);
  await checkWithdrawn(client, id);
  await client.close();
});

test('cancelling a call withdraws its question, and nothing is deleted', async () => {
  const client = open(600_000);
  client.call(1);
  const { id } = await client.wait(isQuestion);
  client.send({ method: 'notifications/cancelled', params: { requestId: 1 } });
  await checkWithdrawn(client, id);
  await client.close();
});
