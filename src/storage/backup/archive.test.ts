import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { readTarHeader, tarEnd, tarHeader, tarPadding } from './archive.ts';

test('a header has its name and size, even above 8 GiB', () => {
  for (const size of [0, 1, 8 * 2 ** 30 - 1, 8 * 2 ** 30, 2 ** 50]) {
    assert.deepEqual(readTarHeader(tarHeader({ name: 'tables/notes/000001', size })), {
      name: 'tables/notes/000001',
      size,
    });
  }
});

test('rejects a header with any changed bit', () => {
  const header = tarHeader({ name: 'manifest.json', size: 1234 });
  for (let bit = 0; bit < header.length * 8; bit += 1) {
    const changed = Buffer.from(header);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(readTarHeader(changed), undefined, `bit ${bit}`);
  }
});

test('tar can read the archive', (t) => {
  const content = Buffer.from('hello');
  const archive = [tarHeader({ name: 'a/b', size: content.length }), content, tarPadding(content.length), tarEnd];
  const result = spawnSync('tar', ['-xOf', '-', 'a/b'], { input: Buffer.concat(archive) });
  if (result.error !== undefined) return t.skip('no tar on this machine');
  assert.equal(result.stdout.toString(), 'hello', result.stderr.toString());
});
