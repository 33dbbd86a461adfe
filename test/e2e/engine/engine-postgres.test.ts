import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type EngineClient, startEngine } from '../../support/engine-client.ts';
import { createTestDatabase, serverObstacle, startRealPostgres } from '../../support/postgres.ts';
import { checkSharedQueue } from '../../support/share-queue.ts';

const obstacle = serverObstacle();

describe('engines on PostgreSQL (contract §3, §6)', { skip: obstacle ?? false }, () => {
  // They share only the database: each has a separate data folder.
  let one: EngineClient;
  let two: EngineClient;
  const closings: (() => Promise<void> | void)[] = [];
  const owner = { after: (close: () => Promise<void> | void) => void closings.push(close) };
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    closings.push(() => started.stop());
    const database = await createTestDatabase(started);
    closings.push(database.drop);
    const env = { STORAGE_BACKEND: 'postgresql', DATABASE_URL: database.url, KB_WORKERS: '1' };
    [one, two] = await Promise.all([startEngine(owner, { env }), startEngine(owner, { env })]);
  });
  after(async () => {
    for (const close of closings.reverse()) await close();
  });

  test('two engines share one queue: each job runs once, and both return the bytes', async () => {
    await checkSharedQueue([one, two]);
  });

  test('notes are edited, tagged and deleted, and the other engine sees it at once', async () => {
    const id = await two.documentIdOf(await one.addNote('granite boulder', { tags: 'stones' }));
    await one.call('PATCH', `/notes/${id}`, { text: 'marble statue' });
    assert.equal((await two.search({ query: 'granite' })).returned, 0);
    assert.equal((await two.search({ query: 'marble', tags: ['stones'] })).returned, 1);
    await two.call('PUT', `/documents/${id}/tags`, { remove: ['stones'], add: ['art'] });
    assert.equal((await one.search({ query: 'marble', tags: ['art'] })).returned, 1);
    await one.call('DELETE', `/documents/${id}`);
    assert.equal((await two.call('GET', `/documents/${id}`)).status, 404);
    assert.equal((await two.search({ query: 'marble' })).returned, 0);
  });

  // Last, because it kills one of them.
  test('another engine finishes the work of a killed one', async () => {
    const before = Number((await one.get('/documents'))['total']);
    const jobs: number[] = [];
    for (let index = 0; index < 12; index += 1) {
      jobs.push(await two.addFile(`${index}.txt`, `file ${index} of the doomed `.repeat(200)));
    }
    two.program.process.kill('SIGKILL');
    await two.program.exited;
    const ids = new Set<number>();
    for (const job of jobs) ids.add(await one.documentIdOf(job));
    assert.equal(ids.size, 12);
    assert.equal((await one.get('/documents'))['total'], before + 12);
  });
});
