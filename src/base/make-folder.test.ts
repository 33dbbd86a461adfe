import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from './make-folder.ts';

test('missing folders are made for the owner alone, and one that is there is left as it is', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const inner = join(root, 'a', 'b');
  makeFolder(inner);
  makeFolder(inner);
  assert.equal(statSync(inner).mode & 0o777, 0o700);
  assert.equal(statSync(join(root, 'a')).mode & 0o777, 0o700);
});

test('a place where no folder can be made is an error at once', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  writeFileSync(join(root, 'file'), '');
  assert.throws(() => makeFolder(join(root, 'file', 'x')));
  if (existsSync('/proc/self')) assert.throws(() => makeFolder('/proc/nothing/x'));
});
