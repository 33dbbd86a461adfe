import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { cleanEnv, makeFolder, startCarrel } from '../../support/child-program.ts';
import { pythonWith } from '../../support/python-clients.ts';

const langchain = pythonWith('langchain');
const script = fileURLToPath(new URL('python/run_agent.py', import.meta.url));

test('contract §8: a LangChain agent calls tools, gets failures as results, and continues', {
  skip: 'obstacle' in langchain ? langchain.obstacle : false,
}, async (t) => {
  assert.ok('python' in langchain);
  const { url } = await startCarrel(t, ['serve', '--transport', 'http'], { env: { EMBEDDING_PROVIDER: 'none' } });
  const child = spawn(langchain.python, [script, url], { env: cleanEnv(makeFolder(t), {}) });
  child.stdin.end(
    JSON.stringify([
      ['kb_get', { document_id: 99 }],
      ['fetch_page', { url: 'http://127.0.0.1:1/' }],
      ['get_note', { id: 'none' }],
      ['store_context', { thread_id: 't', source: 'agent', text: 'The bees came back in May' }],
      ['find', { query: 'bees' }],
    ]),
  );
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const last = stdout.trim().split('\n').at(-1) ?? '';
  assert.ok(last.startsWith('['), stderr.slice(-3000));
  const answers = JSON.parse(last) as { status: string; text: string }[];
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['error', 'error', 'error', 'success', 'success'],
  );
  assert.match(answers[0]?.text ?? '', /No document has the id 99/);
  const { results } = JSON.parse(answers[4]?.text ?? '{}');
  assert.equal(results[0].snippet, 'The bees came back in May');
});
