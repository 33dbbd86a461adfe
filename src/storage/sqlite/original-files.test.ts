import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';

// A write may be partial: 1,500 bytes were acknowledged, 1,024 were on disk.
test('rejects bytes that could not be written to disk', (context) => {
  if (!existsSync('/usr/bin/prlimit')) return context.skip('this machine has no prlimit');
  const folder = makeFolder(context);
  const script = `
    import { createOriginals } from './src/storage/sqlite/original-files.ts';
    const files = createOriginals(${JSON.stringify(folder)}, {});
    const staged = files.stage([Buffer.alloc(1500)], { bytesMax: 10_000 });
    console.log(await staged.then(({ bytes }) => bytes, ({ code }) => code));`;
  const { stdout, stderr } = spawnSync(
    'prlimit',
    ['--fsize=1024', process.execPath, '--input-type=module', '--eval', script],
    { cwd: join(import.meta.dirname, '../../..'), encoding: 'utf8' },
  );
  assert.equal(stdout.trim(), 'storage_full', stderr);
  assert.deepEqual(readdirSync(join(folder, 'incoming')), []);
});
