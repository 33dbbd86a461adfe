import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImages } from './images.ts';

const limits = { imageMaxMb: 1, imagesMaxMb: 2 };
const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64');

test('T089: base64 is strict', () => {
  for (const data of ['a', 'ab!=', 'YWJj\n', 'YW Jj', 'YWJj====x', '=', 'YWJ-', 'YWI', 'YWI==', 'YWJj=', 'YWK=']) {
    assert.throws(() => parseImages([{ data }], limits), /Image 0 has invalid base64 encoding/, data);
  }
  assert.equal(parseImages([{ data: base64(0xff, 0xd8, 0xff, 0xe0) }], limits)[0]?.data.length, 4);
});

test('the type is what the bytes are, not what is claimed', () => {
  const jpeg = { data: base64(0xff, 0xd8, 0xff, 0xe0), mime_type: 'image/png' };
  assert.equal(parseImages([jpeg], limits)[0]?.mimeType, 'image/jpeg');
  assert.equal(parseImages([{ data: base64(1, 2, 3) }], limits)[0]?.mimeType, 'image/png');
  assert.equal(parseImages([{ data: base64(1, 2, 3), mime_type: 'image/tiff' }], limits)[0]?.mimeType, 'image/tiff');
  for (const mimeType of ['image/svg+xml', 'text/html', 'image/x"y', 5]) {
    assert.throws(() => parseImages([{ data: base64(1, 2, 3), mime_type: mimeType }], limits), /mime_type/);
  }
});

test('each image and all together have a bound', () => {
  const big = Buffer.alloc(1024 * 1024).toString('base64');
  assert.equal(parseImages([{ data: big }, { data: big }], limits).length, 2);
  assert.throws(
    () => parseImages([{ data: big }, { data: big }, { data: base64(1) }], limits),
    /Total image size exceeds 2MB/,
  );
  const bigger = Buffer.alloc(1024 * 1024 + 1).toString('base64');
  assert.throws(() => parseImages([{ data: base64(1) }, { data: bigger }], limits), /Image 1 exceeds 1MB limit/);
});
