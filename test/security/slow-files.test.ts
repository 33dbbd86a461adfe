import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type EngineClient, startEngine } from '../support/engine-client.ts';
import { until } from '../support/pause.ts';
import { doublingForms } from './parsers/bombs.ts';

/*
 * Security bar, "Fairness": files that use up their time limit do not hold up others. Two of these would take twenty minutes.
 */
test('poisoned PDFs do not hold up small files', async (t) => {
  const engine = await startEngine(t, { env: { KB_EXTRACT_CPU_MS: '3600000', KB_WORKERS: '1' } });
  const poison = (index: number) =>
    engine.addFile(`poison${index}.pdf`, Buffer.concat([doublingForms(), Buffer.from(`\n% ${index}`)]));
  await assertTakenIn(engine, 'avocet');
  const { pid } = engine.program.process;
  const reader = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  assert.ok(reader > 0, 'the program has one child');
  const first = await poison(0);
  await until(async () => (await engine.get(`/jobs/${first}`))['status'] === 'processing');
  // It would use a whole core until the end, and prove no more.
  process.kill(reader, 'SIGSTOP');
  const second = await poison(1);

  await assertTakenIn(engine, 'heron');
  // With no small file left, the other poisoned one is tried, and then yields again.
  await until(async () =>
    /is queued with other large files/.test(String((await engine.get(`/jobs/${second}`))['error'])),
  );
  await assertTakenIn(engine, 'bittern');
  assert.equal((await engine.get(`/jobs/${first}`))['status'], 'processing');
  assert.match(String((await engine.get(`/jobs/${second}`))['status']), /^(queued|processing)$/);
});

async function assertTakenIn(engine: EngineClient, word: string): Promise<void> {
  const job = await engine.waitForJob(await engine.addFile(`${word}.txt`, `Seen at the lake: a ${word}.`));
  assert.equal(job['status'], 'done', JSON.stringify(job));
  assert.equal((await engine.search({ query: word })).returned, 1);
}
