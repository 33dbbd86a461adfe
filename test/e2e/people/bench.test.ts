import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../support/child-program.ts';
import { runPiped } from '../../support/terminal.ts';

test('contract §9: carrel bench measures this machine, touches no data and leaves nothing', (t) => {
  const folder = makeFolder(t);
  const dataDir = join(folder, 'data');
  const temporary = join(folder, 'tmp');
  mkdirSync(temporary);
  // Settings that point to real data must be ignored.
  const env = {
    TMPDIR: temporary,
    EMBEDDING_PROVIDER: 'none',
    KB_ENGINE_URL: 'http://127.0.0.1:9',
    STORAGE_BACKEND: 'postgresql',
  };
  const { status, stdout, stderr } = runPiped(dataDir, ['bench', '--documents', '1'], { env });
  assert.equal(status, 0, stderr);
  const report = JSON.parse(stdout);
  assert.equal(report.documents, 1);
  assert.ok(report.passages >= 1);
  assert.equal(report.model, null);
  for (const number of [
    report.startMs.first,
    report.startMs.later,
    report.ingest.wordsMs,
    report.search.words.p50Ms,
    report.search.both.p95Ms,
  ]) {
    assert.ok(number > 0);
  }
  assert.deepEqual(readdirSync(temporary), []);
  assert.equal(existsSync(dataDir), false);
  assert.equal(runPiped(dataDir, ['bench', '--documents', '0']).status, 2);
});
