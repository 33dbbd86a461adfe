import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineClient, startEngine } from '../support/engine-client.ts';
import { pause } from '../support/pause.ts';
import { doublingForms } from './parsers/bombs.ts';

/*
 * Security bar, "Fairness": files that use up their time limit do not hold up others. Two of these would take twenty minutes.
 */
test('poisoned PDFs do not hold up small files', async (t) => {
  const engine = await startEngine(t, { env: { KB_EXTRACT_CPU_MS: '3600000', KB_WORKERS: '1' } });
  const poisoned: number[] = [];
  for (let index = 0; index < 2; index += 1) {
    const bytes = Buffer.concat([doublingForms(), Buffer.from(`\n% ${index}`)]);
    poisoned.push(await engine.addFile(`poison${index}.pdf`, bytes));
  }
  const statuses = async () =>
    Promise.all(poisoned.map(async (id) => String((await engine.get(`/jobs/${id}`))['status'])));
  while (!(await statuses()).includes('processing')) await pause(50);

  await assertTakenIn(engine, 'heron');
  // With no small file left, the other poisoned one is tried, and then yields again.
  const other = `/jobs/${poisoned[1]}`;
  while (!String((await engine.get(other))['error']).includes('is queued with other large files')) await pause(200);
  await assertTakenIn(engine, 'bittern');
  for (const status of await statuses()) assert.match(status, /^(queued|processing)$/);
});

async function assertTakenIn(engine: EngineClient, word: string): Promise<void> {
  const job = await engine.waitForJob(await engine.addFile(`${word}.txt`, `Seen at the lake: a ${word}.`));
  assert.equal(job['status'], 'done', JSON.stringify(job));
  assert.equal((await engine.search({ query: word })).returned, 1);
}
