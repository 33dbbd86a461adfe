import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import type { ForgetRequest } from '../../storage/documents/jobs.ts';
import { startPruning } from './prune.ts';

type Forgettable = Parameters<typeof startPruning>[1];

function storageWith(forget: Forgettable['ingestion']['forget']): Forgettable {
  return { ingestion: { forget }, documents: { pruneDeleted: async () => [] }, originals: { release: async () => 0 } };
}

test('removes old jobs at start, in batches, by age and number', async () => {
  const requests: ForgetRequest[] = [];
  let left = 12_000;
  const forget = async (request: ForgetRequest) => {
    requests.push(request);
    const gone = Math.min(left, request.limit);
    left -= gone;
    if (left === 0) emptied.resolve();
    return gone;
  };
  const emptied = Promise.withResolvers<void>();
  const settings = { jobsKeptDays: 30, jobsKeptMax: 500, deletedBytesMax: 0 };
  const forgetting = startPruning(settings, storageWith(forget), silentLogger);
  await emptied.promise;
  await forgetting.close();
  assert.equal(requests.length, 3);
  for (const { before, keptMax } of requests) {
    assert.equal(keptMax, 500);
    const days = (Date.now() - Date.parse(before)) / 86_400_000;
    assert.ok(days >= 30 && days < 30.1, before);
  }
});

test('a failing storage does not stop the engine', async () => {
  const forget = async () => Promise.reject(new Error('no disk'));
  const settings = { jobsKeptDays: 1, jobsKeptMax: 100, deletedBytesMax: 0 };
  await startPruning(settings, storageWith(forget), silentLogger).close();
});
