import assert from 'node:assert/strict';
import { test } from 'node:test';
import { principalKey } from '../base/rights.ts';
import { type CallFilter, createActivity } from './activity.ts';

const minute = 60_000;
const call = (at: number, more: object = {}) => ({
  at,
  tool: 'find',
  caller: 'me',
  query: '',
  client: '',
  ms: 10,
  tokens: 5,
  outcome: 'ok',
  ...more,
});

test('counts calls by interval and by tool, and includes empty intervals', () => {
  const activity = createActivity();
  const start = 1_000 * 10 * minute;
  activity.record(call(start));
  activity.record(call(start + minute, { ms: 30, outcome: 'rate_limit_exceeded' }));
  activity.record(call(start + 25 * minute, { tool: 'kb_search' }));
  const intervals = activity.intervals(start + 25 * minute);
  assert.equal(intervals.length, 144);
  assert.deepEqual(
    intervals.slice(-3).map(({ calls, failures, msMax }) => [calls, failures, msMax]),
    [
      [2, 1, 30],
      [0, 0, 0],
      [1, 0, 10],
    ],
  );
  assert.deepEqual(activity.byTool()[0], { tool: 'find', calls: 2, failures: 1, msMean: 20, tokens: 10 });
});

test('an interval has the longest queue and the last storage size, or neither if nothing was sampled', () => {
  const activity = createActivity();
  const start = 1_000 * 10 * minute;
  for (const [at, queue, storageBytes] of [
    [0, 3, 10],
    [1, 9, 20],
    [2, 0, 30],
  ] as const)
    activity.sample({ at: start + at * minute, queue, storageBytes });
  const [before, now] = activity.intervals(start).slice(-2);
  assert.deepEqual([before?.queue, now?.queue, now?.storageBytes], [undefined, 9, 30]);
});

test('a token sees only its own calls, even if another token has the same user', () => {
  const activity = createActivity();
  const owner = (toolsets: string[]) => principalKey({ name: 'me', identity: 'me', rights: { toolsets } });
  activity.record(call(1, { owner: owner(['kb']), query: 'narrow' }));
  activity.record(call(2, { owner: owner(['kb', 'context']), query: 'wide' }));
  const own = activity.latest({ owner: owner(['kb']) });
  assert.deepEqual(
    own.map(({ query }) => query),
    ['narrow'],
  );
});

test('stores a limited number of calls and drops the oldest', () => {
  const activity = createActivity();
  for (let index = 0; index < 50_000; index += 1) activity.record(call(index * minute, { tokens: index }));
  assert.equal(activity.latest().length, 500);
  assert.equal(activity.latest()[0]?.tokens, 49_999);
  assert.equal(
    activity.intervals(49_999 * minute).reduce((sum, { calls }) => sum + calls, 0),
    1_440,
  );
});

test('filters calls by tool, client, outcome and text', () => {
  const activity = createActivity();
  activity.record(call(1, { query: 'Lighthouse keepers', client: 'editor' }));
  activity.record(call(2, { tool: 'kb_search', outcome: 'timeout', caller: 'token ci' }));
  const found = (filter: CallFilter) => activity.latest(filter).map(({ at }) => at);
  assert.deepEqual(found({}), [2, 1]);
  assert.deepEqual(found({ tool: 'find' }), [1]);
  assert.deepEqual(found({ client: 'token ci' }), [2]);
  assert.deepEqual(found({ outcome: 'failed' }), [2]);
  assert.deepEqual(found({ text: 'HOUSE' }), [1]);
});
