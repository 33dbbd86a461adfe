import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseImages } from './images.ts';

const limits = { imageMaxMb: 1, imagesMaxMb: 2 };
const base64 = (...bytes: number[]) => Buffer.from(bytes).toString('base64');

test('T089: base64 is strict', () => {
  for (const data of ['a', 'ab!=', '\n', 'YW Jj', 'YWJj====x', '=', 'YWJ-', 'YWI', 'YWI==', 'YWJj=', 'YWK=']) {
    assert.throws(() => parseImages([{ data }], limits), /Image 0 has invalid base64 encoding/, data);
  }
  assert.equal(parseImages([{ data: base64(0xff, 0xd8, 0xff, 0xe0) }], limits)[0]?.data.length, 4);
});

test('accepts line-wrapped base64', () => {
  const bytes = Buffer.alloc(200, 7);
  const lines = bytes.toString('base64').replace(/.{76}/g, '$&\r\n');
  assert.deepEqual(parseImages([{ data: `${lines}\n` }], limits)[0]?.data, new Uint8Array(bytes));
});

test('accepts an object or text as metadata, and keeps it unchanged', () => {
  const data = base64(1);
  const metadataOf = (metadata: unknown) => parseImages([{ data, metadata }], limits)[0]?.metadata;
  for (const metadata of ['{"alt": "x"}', 'a caption', '', { alt: 'x' }, {}])
    assert.deepEqual(metadataOf(metadata), metadata);
  assert.equal(metadataOf(null), undefined);
  for (const metadata of [5, true, ['x']]) assert.throws(() => metadataOf(metadata), /neither an object nor text/);
  for (const metadata of ['\ud800', { a: ['\udc00'] }])
    assert.throws(() => metadataOf(metadata), /half of a surrogate pair/);
  assert.deepEqual(metadataOf({ a: '\\ud800 😀' }), { a: '\\ud800 😀' });
});

test('detects the type of raster images, and keeps other declared types', () => {
  const jpeg = { data: base64(0xff, 0xd8, 0xff, 0xe0), mime_type: 'image/png' };
  assert.equal(parseImages([jpeg], limits)[0]?.mimeType, 'image/jpeg');
  assert.equal(parseImages([{ data: base64(1, 2, 3) }], limits)[0]?.mimeType, 'image/png');
  assert.equal(parseImages([{ data: base64(1, 2, 3), mime_type: 'image/tiff' }], limits)[0]?.mimeType, 'image/tiff');
  for (const mimeType of [
    'image/svg+xml',
    'application/pdf',
    'application/octet-stream',
    'text/plain; charset=utf-8',
    'png',
  ]) {
    const png = { data: base64(0x89, 0x50, 0x4e, 0x47), mime_type: mimeType };
    assert.equal(parseImages([png], limits)[0]?.mimeType, mimeType);
  }
  for (const mimeType of ['', 'a/', 'image/x"y', 'a/b\r\nc: d', 5]) {
    assert.throws(() => parseImages([{ data: base64(1, 2, 3), mime_type: mimeType }], limits), /mime_type/);
  }
});

test('limits the size of each image and of all together', () => {
  const big = Buffer.alloc(1024 * 1024).toString('base64');
  assert.equal(parseImages([{ data: big }, { data: big }], limits).length, 2);
  assert.throws(
    () => parseImages([{ data: big }, { data: big }, { data: base64(1) }], limits),
    /Total image size exceeds 2MB/,
  );
  const bigger = Buffer.alloc(1024 * 1024 + 1).toString('base64');
  assert.throws(() => parseImages([{ data: base64(1) }, { data: bigger }], limits), /Image 1 exceeds 1MB limit/);
});
