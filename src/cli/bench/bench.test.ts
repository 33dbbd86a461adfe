import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { writeCorpus } from './corpus.ts';
import { type BenchReport, describeReport, percentile } from './report.ts';

test('each run generates the same documents and queries, without duplicates', (t) => {
  const folder = makeFolder(t);
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  assert.deepEqual(writeCorpus(one, 50), writeCorpus(other, 50));
  const hashes = readdirSync(one).map((name) => {
    const text = readFileSync(join(one, name));
    assert.deepEqual(text, readFileSync(join(other, name)));
    return createHash('sha256').update(text).digest('hex');
  });
  assert.equal(new Set(hashes).size, 50);
  const { queries } = writeCorpus(one, 400);
  assert.equal(new Set(queries).size, 40);
});

test('a percentile is one of the measured values', () => {
  assert.equal(percentile([5, 1, 4, 2, 3], 0.5), 3);
  assert.equal(percentile([5, 1, 4, 2, 3], 0.95), 5);
  assert.equal(percentile([7], 0.5), 7);
  assert.equal(percentile([], 0.5), 0);
});

test('without a model the report omits semantic search', () => {
  const latency = { p50Ms: 1, p95Ms: 2 };
  const report: BenchReport = {
    version: '1',
    node: 'v24',
    machine: 'x',
    model: null,
    documents: 10,
    passages: 10,
    bytes: 1000,
    startMs: { first: 300, later: 200 },
    ingest: { wordsMs: 500, wholeMs: 500 },
    search: { words: latency, both: latency },
  };
  assert.doesNotMatch(describeReport(report), /semantic|vectors/);
  assert.match(describeReport(report), /ingest, keywords +20\.0 documents\/s/);
  assert.match(
    describeReport({ ...report, model: 'm', search: { ...report.search, meaning: latency } }),
    /semantic search +p50 1\.0 ms/,
  );
});
