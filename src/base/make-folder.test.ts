import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from './make-folder.ts';

test('creates missing folders for the owner only and leaves existing ones alone', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const inner = join(root, 'a', 'b');
  makeFolder(inner);
  makeFolder(inner);
  assert.equal(statSync(inner).mode & 0o777, 0o700);
  assert.equal(statSync(join(root, 'a')).mode & 0o777, 0o700);
});

test('fails immediately if no folder can be created', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  writeFileSync(join(root, 'file'), '');
  assert.throws(() => makeFolder(join(root, 'file', 'x')));
  if (existsSync('/proc/self')) assert.throws(() => makeFolder('/proc/nothing/x'));
});
