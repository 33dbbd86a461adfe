import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeFolder } from '../../test/support/child-program.ts';
import { moveFileSync, replaceFile, writeNewFile } from './durable-files.ts';

const folder = makeFolder({ after });

async function* parts(fails = false): AsyncGenerator<Uint8Array> {
  yield Buffer.from('one ');
  yield Buffer.from('two');
  if (fails) throw new Error('the source broke');
}

test('writes a new file completely, readable by its owner only, and never overwrites', async () => {
  const path = join(folder, 'new');
  assert.equal(await writeNewFile(path, parts()), 7);
  assert.equal(readFileSync(path, 'utf8'), 'one two');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await assert.rejects(writeNewFile(path, parts()), { code: 'EEXIST' });
  assert.equal(readFileSync(path, 'utf8'), 'one two');
});

test('replaces a file completely or not at all, and leaves nothing else behind', async () => {
  const path = join(folder, 'replaced');
  assert.equal(await replaceFile(path, Buffer.from('before')), 6);
  await assert.rejects(replaceFile(path, parts(true)), /the source broke/);
  assert.equal(readFileSync(path, 'utf8'), 'before');
  await replaceFile(path, parts());
  assert.equal(readFileSync(path, 'utf8'), 'one two');
  await assert.rejects(writeNewFile(join(folder, 'broken'), parts(true)));
  await assert.rejects(replaceFile(join(folder, 'missing', 'file'), parts()), { code: 'ENOENT' });
  assert.deepEqual(readdirSync(folder).sort(), ['new', 'replaced']);
});

test('moves a file to its new name', () => {
  const path = join(folder, 'moved');
  writeFileSync(`${path}.part`, 'content');
  moveFileSync(`${path}.part`, path);
  assert.equal(readFileSync(path, 'utf8'), 'content');
});
