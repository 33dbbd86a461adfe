import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { releaseStartLock, takeStartLock } from './start-lock.ts';

test('one has the lock; that of a process that is gone, or that never finished, can be taken over', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const lock = join(folder, 'key.lock');
  assert.equal(takeStartLock(lock), true);
  assert.equal(takeStartLock(lock), false);
  releaseStartLock(lock);
  writeFileSync(lock, String(process.ppid));
  assert.equal(takeStartLock(lock), false);
  releaseStartLock(lock);
  assert.deepEqual(readdirSync(folder), ['key.lock'], "another's lock stays");
  writeFileSync(lock, '999999999');
  assert.equal(takeStartLock(lock), true);
  // Made, and not yet signed.
  writeFileSync(lock, '');
  assert.equal(takeStartLock(lock), false);
  utimesSync(lock, 0, 0);
  assert.equal(takeStartLock(lock), true);
  releaseStartLock(lock);
  assert.deepEqual(readdirSync(folder), []);
});
