import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { createLogger, type LogRecord, silentLogger } from '../../base/log.ts';
import { createCallJobs } from '../../jobs/call-jobs.ts';
import { localUser } from '../../tools/call.ts';
import { createCatalogue } from '../../tools/catalogue.ts';
import { defineTool, type Tool } from '../../tools/tool.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { ToolFailure } from '../wire-errors.ts';
import { createCallSlots } from './call-slots.ts';
import { createCallTool } from './call-tool.ts';
import type { IncomingCall } from './incoming-call.ts';

function tool(name: string, run: Tool['run'], more: Partial<Tool> = {}): Tool {
  const base = defineTool({
    name,
    title: name,
    description: name,
    effect: 'read',
    input: z.object({ text: z.string().optional() }),
    output: z.object({}),
    run: async () => ({}),
  });
  return { ...base, ...more, run };
}

function funnel(tools: Tool[], more: Partial<Toolset> = {}, inFlight = { runningMax: 10, waitingMax: 10 }) {
  const toolset: Toolset = { name: 'set', tools, failures: { as: 'jsonrpc' }, ...more };
  const catalogue = createCatalogue([toolset], { readOnly: false, disabledTools: ['off'] });
  const jobs = createCallJobs();
  let now = 0;
  const clock = { advance: (ms: number) => (now += ms) };
  return {
    callTool: createCallTool({ catalogue, jobs, callSlots: createCallSlots([toolset], inFlight), clock: () => now }),
    jobs,
    clock,
  };
}

function call(more: Partial<IncomingCall> = {}): IncomingCall {
  return {
    caller: { ...localUser, id: 'me', owner: 'me' },
    signal: new AbortController().signal,
    report() {},
    log: silentLogger,
    keepCancellable: () => () => {},
    ...more,
  };
}

async function failureOf(promise: Promise<unknown>): Promise<ToolFailure> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(thrown instanceof ToolFailure);
  return thrown;
}

test('distinguishes unknown from disabled tools', async () => {
  const { callTool } = funnel([tool('on', async () => ({})), tool('off', async () => ({}))]);
  assert.equal((await failureOf(callTool('nope', {}, call()))).error.code, 'unknown_tool');
  assert.equal((await failureOf(callTool('__proto__', {}, call()))).error.code, 'unknown_tool');
  assert.equal((await failureOf(callTool('off', {}, call()))).error.code, 'tool_disabled');
});

test('an unexpected error leaves only an incident id, which is in the log with the whole error', async () => {
  const records: LogRecord[] = [];
  const log = createLogger([{ level: 'debug', write: (record) => records.push(record), flush() {} }]);
  const { callTool } = funnel([
    tool('broken', async () => {
      throw new TypeError('/secret/path is undefined');
    }),
  ]);
  const { error } = await failureOf(callTool('broken', {}, call({ log })));
  assert.equal(error.code, 'internal');
  assert.equal(error.message.includes('secret'), false);
  const logged = records.find(({ fields }) => fields['incident'] === error.data['incident']);
  assert.ok(logged && String(logged.fields['error']).includes('/secret/path'));
});

test('a quota is exact under concurrency, per caller, and says when to retry (contract §7)', async () => {
  const quotas = { search: { limit: 10, windowMs: 60_000 } };
  const { callTool, clock } = funnel([tool('find', async () => ({}), { quota: 'search' })], { quotas });
  const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => callTool('find', {}, call())));
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 10);
  await callTool('find', {}, call({ caller: { ...localUser, id: 'other', owner: 'other' } }));
  clock.advance(30_500);
  const { error } = await failureOf(callTool('find', {}, call()));
  assert.equal(error.code, 'rate_limit_exceeded');
  assert.deepEqual(error.data['details'], { category: 'search', limit: 10, window: '1 minute', retryAfter: 30 });
  clock.advance(29_500);
  await callTool('find', {}, call());
});

test('does not count or run calls with invalid arguments', async () => {
  let runs = 0;
  const quotas = { search: { limit: 1, windowMs: 60_000 } };
  const count = async () => {
    runs += 1;
    return {};
  };
  const { callTool } = funnel([tool('find', count, { quota: 'search' })], { quotas });
  assert.equal((await failureOf(callTool('find', { text: 7 }, call()))).error.code, 'invalid_arguments');
  await callTool('find', {}, call());
  assert.equal(runs, 1);
});

test('rejects calls immediately when both slots and queue are full', async () => {
  const gate = Promise.withResolvers<object>();
  const { callTool } = funnel([tool('slow', () => gate.promise)], {}, { runningMax: 1, waitingMax: 1 });
  const first = callTool('slow', {}, call());
  const second = callTool('slow', {}, call());
  assert.equal((await failureOf(callTool('slow', {}, call()))).error.code, 'too_many_in_flight');
  gate.resolve({ done: true });
  assert.deepEqual(await Promise.all([first, second]), [{ done: true }, { done: true }]);
});

test('a slow call is answered with a handle, continues, and its job holds the result (000 §9.1)', async () => {
  const gate = Promise.withResolvers<object>();
  const seen: number[] = [];
  const work: Tool['run'] = async (_input, { report }) => {
    report({ progress: 1, total: 2, message: 'half' });
    const result = await gate.promise;
    report({ progress: 2, total: 2 });
    return result;
  };
  const { callTool, jobs } = funnel([tool('slow', work)], { slowCallMs: 1 });
  const ended = Promise.withResolvers<void>();
  const handle = (await callTool(
    'slow',
    {},
    call({ report: ({ progress }) => seen.push(progress), keepCancellable: () => ended.resolve }),
  )) as { jobId: string; state: string };
  assert.equal(handle.state, 'running');
  const { state, progress, total, message } = jobs.get(handle.jobId, 'me');
  assert.deepEqual({ state, progress, total, message }, { state: 'running', progress: 1, total: 2, message: 'half' });
  gate.resolve({ answer: 42 });
  await ended.promise;
  assert.deepEqual(jobs.get(handle.jobId, 'me').result, { answer: 42 });
  assert.deepEqual(seen, [1, 2]);
});

test('with wait, the caller gets the result itself', async () => {
  const work: Tool['run'] = () => new Promise((resolve) => setTimeout(() => resolve({ answer: 1 }), 20));
  const { callTool } = funnel([tool('slow', work)], { slowCallMs: 1 });
  assert.deepEqual(await callTool('slow', { wait: true }, call()), { answer: 1 });
});

test('a job is cancelled by its request id, also after the handle was returned', async () => {
  const aborted = Promise.withResolvers<void>();
  const work: Tool['run'] = (_input, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted.resolve();
        reject(new Error('stopped'));
      });
    });
  const { callTool, jobs } = funnel([tool('slow', work)], { slowCallMs: 1 });
  let cancel = (): void => {};
  const ended = Promise.withResolvers<void>();
  const keepCancellable = (late: () => void) => {
    cancel = late;
    return ended.resolve;
  };
  const { jobId } = (await callTool('slow', {}, call({ keepCancellable }))) as { jobId: string };
  cancel();
  await aborted.promise;
  await ended.promise;
  assert.equal(jobs.get(jobId, 'me').state, 'cancelled');
});

test('a failed job keeps our code and message, not the external ones', async () => {
  const gate = Promise.withResolvers<object>();
  const { callTool, jobs } = funnel([tool('slow', () => gate.promise)], { slowCallMs: 1 });
  const ended = Promise.withResolvers<void>();
  const { jobId } = (await callTool('slow', {}, call({ keepCancellable: () => ended.resolve }))) as { jobId: string };
  gate.reject(new CarrelError('unavailable', 'The upstream is down.', { cause: new Error('10.0.0.5 refused') }));
  await ended.promise;
  assert.deepEqual(jobs.get(jobId, 'me').error, { code: 'unavailable', message: 'The upstream is down.' });
});

test('rejects an overlong answer of a call or job, and passes the limit to the tool', async () => {
  const bounds: unknown[] = [];
  const long = tool('long', async (_input, { answerBytesMax }) => {
    bounds.push(answerBytesMax);
    return { text: 'x'.repeat(2_200_000) };
  });
  const { callTool } = funnel([long]);
  const { error } = await failureOf(callTool('long', {}, call()));
  assert.equal(error.code, 'answer_too_large');
  assert.deepEqual(bounds, [4 * 1024 * 1024]);

  const go = Promise.withResolvers<void>();
  const later = tool('later', async (input, running) => {
    await go.promise;
    return long.run(input, running);
  });
  const slow = funnel([later], { slowCallMs: 1 });
  const { jobId } = (await slow.callTool('later', {}, call())) as { jobId: string };
  go.resolve();
  while (slow.jobs.get(jobId, 'me').state !== 'failed') await new Promise((resolve) => setImmediate(resolve));
  const view = slow.jobs.get(jobId, 'me');
  assert.equal(view.result, undefined);
  assert.equal(view.error?.code, 'answer_too_large');
});
