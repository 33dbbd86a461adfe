import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallJobs } from './call-jobs.ts';

test('reports progress, then the result, to the owner only (contract §4)', () => {
  const jobs = createCallJobs();
  const job = jobs.start('a', { progress: 1 });
  job.report({ progress: 2, total: 4, message: 'half' });
  const { startedAt, updatedAt, ...running } = jobs.get(job.id, 'a');
  assert.deepEqual(running, { jobId: job.id, state: 'running', progress: 2, total: 4, message: 'half' });
  assert.ok(startedAt <= updatedAt);
  assert.throws(() => jobs.get(job.id, 'b'), { code: 'job_not_found' });
  job.finish({ answer: 42 });
  assert.deepEqual(jobs.get(job.id, 'a').result, { answer: 42 });
  assert.equal(jobs.get(job.id, 'a').state, 'done');
});

test('a finished job never changes', () => {
  const jobs = createCallJobs();
  const job = jobs.start('a', { progress: 0 });
  job.cancel();
  job.finish('late');
  job.report({ progress: 9 });
  const { state, result, progress } = jobs.get(job.id, 'a');
  assert.deepEqual({ state, result, progress }, { state: 'cancelled', result: undefined, progress: 0 });
});

test('keeps finished jobs for an hour and a bounded number; never drops running ones', () => {
  let time = 0;
  const jobs = createCallJobs({ finishedMax: 2, now: () => new Date(time) });
  const running = jobs.start('a', { progress: 0 });
  const ended = [1, 2, 3].map(() => {
    const job = jobs.start('a', { progress: 0 });
    job.finish(null);
    return job.id;
  });
  assert.throws(() => jobs.get(ended[0] ?? '', 'a'), { code: 'job_not_found' });
  assert.equal(jobs.get(ended[2] ?? '', 'a').state, 'done');
  time = 3_600_001;
  assert.throws(() => jobs.get(ended[2] ?? '', 'a'), { code: 'job_not_found' });
  assert.equal(jobs.get(running.id, 'a').state, 'running');
});

test('a queued call becomes a queued job and reports when it starts (AT-ASYNC-002)', () => {
  const jobs = createCallJobs();
  const job = jobs.start('a', { progress: 0 }, 'queued');
  assert.equal(jobs.get(job.id, 'a').state, 'queued');
  job.begin();
  assert.equal(jobs.get(job.id, 'a').state, 'running');
  job.fail({ code: 'fess_timeout', message: 'Too slow.', httpStatus: null });
  assert.deepEqual(jobs.get(job.id, 'a').error, { code: 'fess_timeout', message: 'Too slow.', httpStatus: null });
});

test('bounds the results of finished jobs in total: the oldest are dropped', () => {
  const jobs = createCallJobs({ resultBytesMax: 1_000 });
  const ids = [1, 2, 3].map(() => {
    const job = jobs.start('me', { progress: 0 });
    job.finish({ text: 'x'.repeat(400) });
    return job.id;
  });
  assert.throws(() => jobs.get(ids[0] ?? '', 'me'), /No such job/);
  assert.equal(jobs.get(ids[1] ?? '', 'me').state, 'done');
  assert.equal(jobs.get(ids[2] ?? '', 'me').state, 'done');
});
