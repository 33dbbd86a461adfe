import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepCompiledCode, useCompiledCode } from './compiled-code.ts';

test('compiled code is kept in a folder that is its owner’s alone; a data folder that is new or cannot be written stops nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-compiled-'));
  try {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    keepCompiledCode(file);
    useCompiledCode(file);
    useCompiledCode(folder);
    assert.deepEqual([getCompileCacheDir(), readdirSync(folder)], [undefined, ['file']]);
    keepCompiledCode(folder);
    const kept = getCompileCacheDir();
    assert.ok(kept?.startsWith(join(folder, 'cache', 'code-')), kept);
    assert.equal(statSync(join(folder, 'cache')).mode & 0o777, 0o700);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
