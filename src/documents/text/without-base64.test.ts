import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { withoutBase64 } from './without-base64.ts';

const bytes = Buffer.concat(
  Array.from({ length: 40 }, (_, index) => createHash('sha256').update(String(index)).digest()),
);
const encoded = bytes.toString('base64');

test('removes encoded bytes in one run, in a data URL and in lines', () => {
  assert.equal(withoutBase64(`before ${encoded} after`), 'before  after');
  assert.equal(withoutBase64(`![x](data:image/png;base64,${encoded})`), '![x]()');
  const lines = encoded.replace(/.{76}/g, '$&\n').split('\n');
  const text = ['-----BEGIN KEY-----', ...lines.slice(0, 10), '-----END KEY-----', 'the end'].join('\n');
  assert.equal(
    withoutBase64(text),
    ['-----BEGIN KEY-----', ...Array(10).fill(''), '-----END KEY-----', 'the end'].join('\n'),
  );
});

test('keeps hashes, long words, genomes and paths', () => {
  const hash = createHash('sha512').update('x').digest('hex');
  for (const text of [hash, 'a'.repeat(1000), 'ACGT'.repeat(300), '/srv/data/'.repeat(80), encoded.slice(0, 200)]) {
    assert.equal(withoutBase64(text), text);
  }
});
