import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zipOf } from '../../test/security/parsers/raw-zip.ts';
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

test('prefers the bytes to the header (T084)', () => {
  assert.equal(kind('%PDF-1.7 …', 'text/html'), 'pdf');
  assert.equal(kind('\x7fELF\x02', 'text/html'), 'unsupported_content_type');
  assert.equal(kind('PK\x03\x04', 'text/plain'), 'extraction_failed');
  assert.equal(kind('  <!DOCTYPE html><p>x', 'text/plain'), 'html');
  assert.equal(kind('<html><p>x', 'application/octet-stream'), 'html');
  assert.equal(kind('<?xml version="1.0"?><rss version="2.0">', 'text/html'), 'feed');
  assert.equal(kind('<?xml version="1.0"?><!-- c --><feed xmlns="x">'), 'feed');
  assert.equal(kind('<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html>', 'application/xml'), 'html');
});

test('uses the header if the bytes are inconclusive', () => {
  assert.equal(kind('words', 'text/html; charset=utf-8'), 'html');
  assert.equal(kind('# words', 'text/markdown'), 'markdown');
  assert.equal(kind('{"a":1}', 'application/problem+json'), 'json');
  assert.equal(kind('<a/>', 'application/xml'), 'xml');
  assert.equal(kind('a,b', 'text/csv'), 'csv');
  assert.equal(kind('x = 1', 'application/x-python'), 'code');
});

test('uses the address and the bytes without a header', () => {
  assert.equal(kind('# words', 'text/plain', 'https://h.example/README.md?x=1'), 'markdown');
  assert.equal(kind('[1]'), 'json');
  assert.equal(kind('words'), 'text');
  assert.equal(kind('<?xml version="1.0"?><a/>'), 'xml');
  assert.equal(kind(''), 'text');
});

test('refuses kinds without text', () => {
  assert.equal(kind('GIF89a', 'image/gif'), 'unsupported_content_type');
  assert.equal(kind('anything', 'video/mp4'), 'unsupported_content_type');
  assert.equal(kind('anything', 'application/vnd.ms-excel'), 'unsupported_content_type');
  assert.equal(kind('a\0b\0\0c', 'text/plain'), 'unsupported_content_type');
  assert.equal(kind('\x01\x02\x03\x04\x05words'), 'unsupported_content_type');
});

test('recognises UTF-16 text with and without a byte order mark', () => {
  const wide = Buffer.from('Some words in wide characters', 'utf16le');
  assert.equal(contentKind(wide, { contentType: 'text/plain' }), 'text');
  assert.equal(
    contentKind(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('漢字', 'utf16le')]), {
      contentType: 'text/plain',
    }),
    'text',
  );
});

test('uses the name if neither bytes nor header are conclusive', () => {
  assert.equal(kind('a,b\n1,2', 'application/vnd.ms-excel', 'list.csv'), 'csv');
  assert.equal(kind('a: 1', 'text/plain', 'keepers.yml'), 'yaml');
  assert.equal(kind('x = 1', 'application/octet-stream', 'lamp.py'), 'code');
  // MIME tables list `.ts` as video.
  assert.equal(kind('const a = 1;', 'video/mp2t', 'lamp.ts'), 'code');
  assert.equal(kind('project(lamp)', '', 'CMakeLists.txt'), 'code');
  assert.equal(kind('#!/usr/bin/env -S node --x\n1', ''), 'code');
  assert.equal(kind('words', 'text/plain', 'notes.txt'), 'text');
  assert.equal(kind('<!doctype html>', '', 'page.php'), 'html');
});

test('recognises mail by fields that only mail has', () => {
  const mail = 'Received: from x\r\n by y\r\nFrom: a@b.example\r\nSubject: s\r\n\r\nbody';
  assert.equal(kind(mail, 'text/plain', 'notes.txt'), 'email');
  assert.equal(kind(`From a Mon Jan 5\n${mail.replaceAll('\r', '')}`), 'email');
  assert.equal(kind('From: the desk of Ada\nSubject: oil\n\nWe need oil.', 'text/plain'), 'text');
  assert.equal(kind('Subject: oil\n\nWe need oil.', '', 'note.eml'), 'email');
  assert.equal(kind('Just words\n\nWe need oil.', 'message/rfc822', 'note.eml'), 'text');
});

test('refuses packages of unsupported programs', () => {
  const parts = {
    '[Content_Types].xml': '<Types><Override ContentType="application/vnd.ms-visio.drawing.main+xml"/></Types>',
  };
  assert.throws(() => contentKind(zipOf({ ...parts, 'visio/page1.xml': '<a>text</a>' })), {
    message: /Export it as PDF/,
  });
  assert.throws(() => contentKind(zipOf({ 'Index/Document.iwa': 'x' })), { message: /Export it as PDF/ });
  assert.equal(contentKind(zipOf({ 'a.xml': '<a>text</a>' })), 'zip');
});

test('does not read a text that mentions PDF as a PDF', () => {
  assert.equal(kind('A file that begins with %PDF- is a PDF.', 'text/markdown'), 'markdown');
  assert.equal(kind('rubbish\n%PDF-1.4\n%\xe2\xe3'), 'pdf');
});
