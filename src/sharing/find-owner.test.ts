import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { forbidsSharing } from './find-owner.ts';

test('a configuration file can forbid sharing', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config.json');
  assert.equal(forbidsSharing(file), false, 'no file');
  for (const [content, isForbidden] of [
    ['{"sharing":{"alone":true}}', true],
    ['{"sharing":{"alone":false}}', false],
    ['{"sharing":true}', false],
    ['{"sharing":{"alone":tr', false],
    ['null', false],
  ] as const) {
    writeFileSync(file, content);
    assert.equal(forbidsSharing(file), isForbidden, content);
  }
});
