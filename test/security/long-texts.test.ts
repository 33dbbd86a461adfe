import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environment, readStalls } from '../fuzz/fuzz-run.ts';
import { createRandom } from '../fuzz/random.ts';
import { carrelProgram, startListening } from '../support/child-program.ts';
import { openSession } from '../support/raw-http.ts';

const stallMsMax = 250;

/** Security bar: nothing blocks the serving thread. Texts without spaces take longest to search for words. */
test('searches through long entries are judged and shown off the serving thread', async (t) => {
  const { env, stallFile, clear } = environment({ seed: 1 });
  const program = await startListening(carrelProgram, ['serve', '--transport', 'http', '--port', '0'], env);
  t.after(() => program.stop().then(clear));
  const session = await openSession(program.url);
  const random = createRandom(1, 0);
  let calls = 0;
  const call = async (name: string, args: object) => {
    calls += 1;
    const { messages } = await session.call(calls, name, args);
    return Object(messages[0]?.result?.['structuredContent']);
  };
  const words = Array.from({ length: 150_000 }, () => String.fromCharCode(0x4e00 + random.below(6_000))).join('');
  for (let index = 0; index < 3; index += 1) {
    const text = `heron ${index} ${words} bittern`;
    assert.equal((await call('store_context', { thread_id: 't', source: 'user', text }))['success'], true);
  }
  const searchedFrom = Date.now();
  const listed = await call('fts_search_context', { query: 'bittern', limit: 3 });
  assert.equal(listed['results'].length, 3);
  const { results } = await call('find', { query: 'bittern', include_weak: true, explain: true });
  assert.equal(results.length, 3);
  for (const { snippet, why } of results) {
    assert.match(snippet, /bittern/);
    assert.match(why, /has "bittern"/);
  }
  assert.deepEqual(
    readStalls(stallFile, searchedFrom).filter((ms) => ms > stallMsMax),
    [],
    'CPU time of the serving thread between two turns of its loop, in ms',
  );
});
