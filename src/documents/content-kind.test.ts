import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCarrelError } from '../base/errors.ts';
import { contentKind } from './content-kind.ts';

function kind(text: string, contentType?: string, name?: string): string {
  try {
    return contentKind(Buffer.from(text, 'latin1'), { contentType, name });
  } catch (error) {
    if (isCarrelError(error)) return error.code;
    throw error;
  }
}

test('bytes are believed before the header (T084)', () => {
  assert.equal(kind('%PDF-1.7 …', 'text/html'), 'pdf');
  assert.equal(kind('\x7fELF\x02', 'text/html'), 'unsupported_content_type');
  assert.equal(kind('PK\x03\x04', 'text/plain'), 'extraction_failed');
  assert.equal(kind('  <!DOCTYPE html><p>x', 'text/plain'), 'html');
  assert.equal(kind('<html><p>x', 'application/octet-stream'), 'html');
  assert.equal(kind('<?xml version="1.0"?><rss version="2.0">', 'text/html'), 'feed');
  assert.equal(kind('<?xml version="1.0"?><!-- c --><feed xmlns="x">'), 'feed');
  assert.equal(kind('<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>', 'application/xml'), 'html');
});

test('the header decides where bytes do not', () => {
  assert.equal(kind('words', 'text/html; charset=utf-8'), 'html');
  assert.equal(kind('# words', 'text/markdown'), 'markdown');
  assert.equal(kind('{"a":1}', 'application/problem+json'), 'json');
  assert.equal(kind('<a/>', 'application/xml'), 'xml');
  assert.equal(kind('a,b', 'text/csv'), 'csv');
  assert.equal(kind('x = 1', 'application/x-python'), 'code');
});

test('without a header, the address and the bytes decide', () => {
  assert.equal(kind('# words', 'text/plain', 'https://h.example/README.md?x=1'), 'markdown');
  assert.equal(kind('[1]'), 'json');
  assert.equal(kind('words'), 'text');
  assert.equal(kind('<?xml version="1.0"?><a/>'), 'xml');
  assert.equal(kind(''), 'text');
});

test('what has no text of its own is refused', () => {
  assert.equal(kind('\x89PNG\r\n', 'image/png'), 'unsupported_content_type');
  assert.equal(kind('anything', 'video/mp4'), 'unsupported_content_type');
  assert.equal(kind('anything', 'application/vnd.ms-excel'), 'unsupported_content_type');
  assert.equal(kind('a\0b\0\0c', 'text/plain'), 'unsupported_content_type');
  assert.equal(kind('\x01\x02\x03\x04\x05words'), 'unsupported_content_type');
});

test('text in UTF-16 is text, with a mark and without', () => {
  const wide = Buffer.from('Some words in wide characters', 'utf16le');
  assert.equal(contentKind(wide, { contentType: 'text/plain' }), 'text');
  assert.equal(
    contentKind(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('漢字', 'utf16le')]), {
      contentType: 'text/plain',
    }),
    'text',
  );
});
