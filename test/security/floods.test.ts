import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { makeFolder, startCarrel } from '../support/child-program.ts';
import { openSession } from '../support/raw-http.ts';
import { runPiped } from '../support/terminal.ts';

/*
 * Requests are scheduled by caller, not by arrival. The test counts how many answers of the flooding caller leave before the
 * other's; without fair scheduling all of them do.
 */

const env = { EMBEDDING_PROVIDER: 'none', RERANKING: 'off' };
const flood = 60;

test('a token that floods with long reads does not hold up another', async (t) => {
  const dataDir = makeFolder(t);
  const [busy = '', other = ''] = ['busy', 'other'].map((name) =>
    runPiped(dataDir, ['token', 'add', name], { env }).stdout.trim(),
  );
  const { url } = await startCarrel(t, ['serve', '--transport', 'http', '--toolsets', 'context'], { env, dataDir });
  const session = await openSession(url, '2025-11-25', { headers: { authorization: `Bearer ${other}` } });
  const text = 'A line with "quotes" that is escaped on the wire.\n'.repeat(4_000);
  const stored = await session.call(1, 'store_context', { thread_id: 't', source: 'user', text });
  const { structuredContent: entry } = Object(stored.messages[0]?.result);
  const ids: number[] = [entry.context_id];
  await session.call(2, 'get_context_by_ids', { context_ids: ids });

  // In a separate process: here, its answers would delay the measured ones.
  const script = `
    import { openSession } from ${JSON.stringify(new URL('../support/raw-http.ts', import.meta.url).href)};
    const session = await openSession(${JSON.stringify(url)}, '2025-11-25', { headers: { authorization: 'Bearer ${busy}' } });
    const read = async (id) => {
      await session.call(id, 'get_context_by_ids', { context_ids: ${JSON.stringify(ids)} });
      console.log('done');
    };
    await Promise.all(Array.from({ length: ${flood} }, (_, id) => read(id)));`;
  const client = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  });
  t.after(() => client.kill('SIGKILL'));
  const ended = once(client, 'exit');
  let done = 0;
  const lines = createInterface(client.stdout).on('line', () => {
    done += 1;
  });
  await once(lines, 'line');
  const before = done;
  const asked = [
    session.send({ jsonrpc: '2.0', id: 3, method: 'tools/list' }),
    session.call(4, 'get_context_by_ids', { context_ids: ids }),
    session.call(5, 'store_context', { thread_id: 't', source: 'user', text: 'short' }),
  ];
  const passed = await Promise.all(
    asked.map((answer) => answer.then(({ status }) => [status, done - before] as const)),
  );
  for (const [status, count] of passed) {
    assert.equal(status, 200);
    assert.ok(count < (2 * flood) / 3, `${count} of ${flood} came first`);
  }
  assert.deepEqual(await ended, [0, null]);
  assert.equal(done, flood);
});
