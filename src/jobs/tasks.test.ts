import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeFolder } from '../../test/support/child-program.ts';
import { silentLogger } from '../base/log.ts';
import type { NewTask, TaskOutcome } from './task.ts';
import { createTasks, type TasksOptions } from './tasks.ts';

function open(t: TestContext, more: Partial<TasksOptions> = {}) {
  const folder = makeFolder(t);
  const options = { folder, log: silentLogger, ...more };
  return { folder, tasks: createTasks(options), again: () => createTasks(options) };
}

const done: TaskOutcome = { status: 'completed', result: { content: [] } };
const mine: NewTask = { owner: 'me', tool: 'dig', cancel() {} };

async function started(tasks: ReturnType<typeof createTasks>, more: Partial<NewTask> = {}) {
  const task = await tasks.start({ ...mine, ...more });
  assert.ok(task);
  return task;
}

test('a task is on disk before its id is returned, and so is its end', async (t) => {
  const { folder, tasks, again } = open(t);
  const task = await started(tasks);
  assert.match(task.id, /^[\w-]{32}$/);
  assert.deepEqual(readdirSync(folder), [`${task.id}.task`]);
  task.report('half');
  const { view } = await tasks.get(task.id, 'me');
  assert.deepEqual([view.status, view.statusMessage, view.ttlMs], ['working', 'half', 7_200_000]);
  await task.end(done);
  const later = await again().get(task.id, 'me');
  assert.deepEqual([later.view.status, later.view.result], ['completed', { content: [] }]);
});

test("hides other owners' tasks", async (t) => {
  const { tasks } = open(t);
  const { id } = await started(tasks);
  const problems = new Set<string>();
  const strange = ['0'.repeat(32), '', '../../etc/passwd', `${id}\0`, 7, null, undefined, { toString: () => id }];
  for (const [taskId, owner] of [[id, 'you'], ...strange.map((each) => [each, 'me'])] as [unknown, string][]) {
    // One after the other: an unawaited rejection would be unhandled.
    const calls = [tasks.get, tasks.cancel, (task: unknown, whose: string) => tasks.answer(task, whose, {})];
    for (const call of calls) {
      await assert.rejects(call(taskId, owner), (error: Error) => Boolean(problems.add(error.message)));
    }
  }
  assert.equal(problems.size, 1);
  assert.equal((await tasks.get(id, 'me')).view.status, 'working');
});

test('bounds tasks per owner, in total and in bytes, concurrent ones too', async (t) => {
  const { tasks } = open(t, { perOwnerMax: 3, allMax: 5, bytesMax: 1_000 });
  const starts = await Promise.all(Array.from({ length: 10 }, () => tasks.start(mine)));
  assert.equal(starts.filter(Boolean).length, 3);
  const others = await Promise.all(Array.from({ length: 4 }, () => tasks.start({ ...mine, owner: 'you' })));
  assert.equal(others.filter(Boolean).length, 2);
  const large = open(t, { bytesMax: 1_000 }).tasks;
  await (await started(large)).end({ status: 'completed', result: { text: 'x'.repeat(2_000) } });
  assert.equal(await large.start(mine), undefined);
});

test('only the first outcome of a task counts', async (t) => {
  const { tasks, again } = open(t);
  let stopped = 0;
  const task = await started(tasks, { cancel: () => (stopped += 1) });
  await tasks.cancel(task.id, 'me');
  await Promise.all([task.end(done), tasks.cancel(task.id, 'me')]);
  assert.equal((await tasks.get(task.id, 'me')).view.status, 'cancelled');
  assert.equal(stopped, 1);
  // Another process on the same folder.
  const other = await started(tasks);
  await again().cancel(other.id, 'me');
  await other.end(done);
  assert.equal((await tasks.get(other.id, 'me')).view.status, 'cancelled');
});

test('reports the end while it is being written', async (t) => {
  const { tasks } = open(t);
  const task = await started(tasks);
  const ending = task.end(done);
  const seen = await Promise.all(Array.from({ length: 20 }, () => tasks.get(task.id, 'me')));
  await ending;
  assert.deepEqual(
    new Set([...seen, await tasks.get(task.id, 'me')].map(({ view }) => view.status)),
    new Set(['completed']),
  );
});

test('keeps a task as long as promised, then removes its files', async (t) => {
  let time = Date.now();
  const { folder, tasks } = open(t, { keepMs: 1_000, now: () => time });
  const task = await started(tasks);
  time += 5_500;
  const promised = (await tasks.get(task.id, 'me')).view.ttlMs;
  await task.end(done);
  assert.ok((await tasks.get(task.id, 'me')).view.ttlMs >= promised);
  time += 1_000;
  assert.equal((await tasks.get(task.id, 'me')).view.status, 'completed');
  time += 1_000;
  await assert.rejects(tasks.get(task.id, 'me'), { code: 'task_not_found' });
  assert.deepEqual(readdirSync(folder), []);
});

test('a task whose work nobody finished in time has expired', async (t) => {
  let time = Date.now();
  const { tasks, again } = open(t, { now: () => time, runMs: 1_000 });
  const { id } = await started(tasks, { work: '7' });
  assert.equal((await again().get(id, 'me')).unfinishedWork, '7');
  time += 1_001;
  const { view } = await again().get(id, 'me');
  assert.deepEqual([view.status, view.error?.data], ['failed', { code: 'task_expired' }]);
});

test('a task fails when its process dies, unless another process can continue its work', async (t) => {
  const { folder, tasks } = open(t);
  const code = `
    const { createTasks } = await import(${JSON.stringify(new URL('./tasks.ts', import.meta.url).href)});
    const tasks = createTasks({ folder: ${JSON.stringify(folder)}, log: { warn() {} } });
    const start = (work) => tasks.start({ owner: 'me', tool: 'dig', cancel() {}, work });
    const [lost, left] = [await start(undefined), await start('7')];
    process.stdout.write(lost.id + ' ' + left.id);
    process.kill(process.pid, 'SIGKILL');`;
  const ids = await Promise.resolve()
    .then(() =>
      execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', stdio: 'pipe' }),
    )
    .catch((error: { stdout: string }) => error.stdout);
  const [lost = '', left = ''] = ids.split(' ');
  const { view } = await tasks.get(lost, 'me');
  assert.deepEqual([view.status, view.error?.data], ['failed', { code: 'interrupted' }]);
  const found = await tasks.get(left, 'me');
  assert.deepEqual([found.view.status, found.unfinishedWork], ['working', '7']);
  await tasks.endAbandoned(left, done);
  assert.equal((await tasks.get(left, 'me')).view.status, 'completed');
});

test('questions wait for all answers; keys are never reused, and unknown ones are ignored', async (t) => {
  const { tasks } = open(t);
  const task = await started(tasks);
  const asking = task.ask({ a: { n: 1 }, b: { n: 2 } });
  const { inputRequests = {} } = (await tasks.get(task.id, 'me')).view;
  const [first = '', second = ''] = Object.keys(inputRequests);
  assert.deepEqual(Object.values(inputRequests), [{ n: 1 }, { n: 2 }]);
  await tasks.answer(task.id, 'me', { [first]: 'yes', unknown: 'no', __proto__: 'no' });
  assert.deepEqual(Object.keys((await tasks.get(task.id, 'me')).view.inputRequests ?? {}), [second]);
  await tasks.answer(task.id, 'me', { [first]: 'changed', [second]: 'too' });
  assert.deepEqual(await asking, { a: 'yes', b: 'too' });
  assert.equal((await tasks.get(task.id, 'me')).view.status, 'working');
  const again = task.ask({ a: {} });
  const [third = ''] = Object.keys((await tasks.get(task.id, 'me')).view.inputRequests ?? {});
  assert.ok(third !== first);
  await tasks.cancel(task.id, 'me');
  await assert.rejects(again, { code: 'cancelled' });
});

test('starts no task without disk space, and closing ends no task', async (t) => {
  const { folder, tasks } = open(t);
  const task = await started(tasks);
  tasks.close();
  await task.end({ status: 'failed', error: { code: 0, message: 'the database is closed' } });
  assert.deepEqual(readdirSync(folder), [`${task.id}.task`]);
  const place = join(folder, 'file');
  mkdirSync(folder, { recursive: true });
  writeFileSync(place, '');
  const nowhere = createTasks({ folder: join(place, 'tasks'), log: silentLogger });
  assert.equal(await nowhere.start(mine), undefined);
});
