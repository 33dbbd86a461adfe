import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** In a process of its own, because a process can be told once where compiled code is, and that of the tests has been. */
function cacheAfter(steps: string): string {
  const script = `
    import { getCompileCacheDir } from 'node:module';
    import { keepCompiledCode, useCompiledCode } from './src/app/compiled-code.ts';
    ${steps}
    console.log(getCompileCacheDir());`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: new URL('../..', import.meta.url),
    env: {},
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  return stdout.trim();
}

test('compiled code is kept in a folder that is its owner’s alone; a data folder that is new or cannot be written stops nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-compiled-'));
  try {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const [fileText, folderText] = [file, folder].map((path) => JSON.stringify(path));
    const tried = `keepCompiledCode(${fileText}); useCompiledCode(${fileText}); useCompiledCode(${folderText});`;
    assert.deepEqual([cacheAfter(tried), readdirSync(folder)], ['undefined', ['file']]);
    const kept = cacheAfter(`keepCompiledCode(${folderText});`);
    assert.ok(kept.startsWith(join(folder, 'cache', 'code-')), kept);
    assert.equal(statSync(join(folder, 'cache')).mode & 0o777, 0o700);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
