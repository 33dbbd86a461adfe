import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { typicalAnswers } from '../src/cli/tools.ts';
import { carrelProgram, cleanEnv, makeFolder } from './support/child-program.ts';
import { pause } from './support/pause.ts';

/** Token limits for the searches that agents use most: ten results of find, five of the others. */
const tokensMax: Readonly<Record<string, number>> = { find: 1_100, kb_search: 650, hybrid_search_context: 800 };

const vocabulary = new Tiktoken(o200k);
const tokensOf = (text: string): number => vocabulary.encode(text).length;

const habits: Readonly<Record<string, string>> = {
  heron: 'stands motionless at the edge of the reeds and waits for frogs that come up for air after rain',
  bittern: 'walks slowly along the muddy bank of the old canal and looks for small fish below the lily pads',
  egret: 'follows cattle over the wet pasture and picks up insects that their hooves have startled there',
  stork: 'nests on the chimney of the mill and carries sticks and clumps of turf up to it every March',
  crane: 'calls from the far side of the fen before sunrise and is answered from the island in the lake',
};

type Fields = Record<string, unknown>;

async function connect(t: TestContext) {
  const dataDir = makeFolder(t);
  const client = new Client({ name: 'test', version: '1' });
  t.after(() => client.close());
  const env = cleanEnv(dataDir);
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [carrelProgram], env, cwd: dataDir, stderr: 'ignore' }),
  );
  return async (name: string, args: Fields): Promise<{ data: Fields; tokens: number }> => {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
    assert.ok(!isError, JSON.stringify(content));
    const texts = (content as { text?: string }[]).map(({ text = '' }) => text);
    return { data: structuredContent as Fields, tokens: tokensOf(texts.join('\n')) };
  };
}

test('answers stay within their token limits, and near what `carrel tools` shows', async (t) => {
  const call = await connect(t);
  for (const [bird, habit] of Object.entries(habits)) {
    const text = `The ${bird} is a bird of the marsh. It ${habit}. Walkers see it most often in spring, when the marsh is flooded.`;
    assert.ok(Math.abs(tokensOf(text) - 47) <= 5, `${bird}: ${tokensOf(text)}`);
    await call('kb_add', { text, title: `The ${bird}` });
    await call('store_context', { thread_id: 'field-notes', source: 'agent', text });
  }
  for (let isDone = false; !isDone; await pause(50)) {
    const { data } = await call('kb_jobs', {});
    isDone = (data['jobs'] as Fields[]).every(({ status }) => status === 'done');
  }
  const query = { query: 'bird of the marsh', include_weak: true };
  const calls: Readonly<Record<string, Fields>> = {
    find: query,
    verify: { uri: 'carrel://kb/doc/1', quote: 'a bird of the marsh' },
    store_context: { thread_id: 'other', source: 'agent', text: 'The gate code changes in May.' },
    hybrid_search_context: query,
    search_context: { thread_id: 'field-notes' },
    get_context_by_ids: { context_ids: [1] },
    list_threads: {},
    kb_search: query,
    kb_add: { text: 'The gate code changes in May.' },
    kb_get: { document_id: 1 },
    kb_list: {},
  };
  assert.deepEqual(Object.keys(calls), Object.keys(typicalAnswers));
  const measured = new Map<string, number>();
  for (const [name, args] of Object.entries(calls)) {
    const { data, tokens } = await call(name, args);
    if (name in tokensMax) {
      assert.equal((data['results'] as unknown[]).length, name === 'find' ? 10 : 5, name);
      assert.ok(tokens <= (tokensMax[name] ?? 0), `${name}: ${tokens}`);
    }
    measured.set(name, tokens);
  }
  const wrong = [...measured].filter(
    ([name, tokens]) => Math.abs(tokens - (typicalAnswers[name] ?? 0)) > 5 + 0.1 * tokens,
  );
  assert.deepEqual(wrong, [], 'measured, and stated otherwise in tools.ts');
  const { data, tokens } = await call('get_context_by_ids', { context_ids: [99_999] });
  assert.ok(data['hint'] && tokens > 20, 'the text repeats the structured content, even if nothing was found');
});
