import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printableJson, printableLine, printableText } from './printable.ts';

test('replaces terminal control characters: escapes, bells, backspaces, 8-bit controls', () => {
  const hostile = '\u001b[31mred\u001b[0m \u001b]0;title\u0007 a\bb \u009b2J \u0090q\u009c \u0000\u007f';
  assert.doesNotMatch(printableText(hostile), /[\u0000-\u001f\u007f-\u009f]/);
  assert.equal(printableText('\u001b[2Jx'), '\ufffd[2Jx');
});

test('replaces bidirectional and invisible characters; keeps joiners that scripts need', () => {
  assert.equal(printableLine('file\u202egnp.exe'), 'file\ufffdgnp.exe');
  assert.equal(printableLine('a\u2066b\u2069c\u200bd'), 'a\ufffdb\ufffdc\ufffdd');
  assert.equal(printableLine('\u{e0041}tag'), '\ufffdtag');
  assert.equal(printableLine('👩‍👩‍👧 नमस्ते שלום'), '👩‍👩‍👧 नमस्ते שלום');
});

test('replaces carriage returns and lone surrogates', () => {
  assert.equal(printableText('safe\rfake\r\nnext\tcolumn'), 'safe\nfake\nnext\tcolumn');
  assert.equal(printableLine('a\n b \t c'), 'a b c');
  assert.equal(printableLine('x\ud800y'), 'x\ufffdy');
});

test('JSON on a terminal keeps its value and has no control characters', () => {
  const value = { a: ['\u001b[31m', 'x\u202ey\u009b', '\u{e0041}', 'line\nline'] };
  assert.doesNotMatch(printableJson(value).replaceAll('\n', ''), /[\p{Cc}\u202e\u{e0041}]/u);
  assert.deepEqual(JSON.parse(printableJson(value)), value);
});
