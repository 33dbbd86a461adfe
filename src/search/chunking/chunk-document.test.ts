import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkDocument } from './chunk-document.ts';

test('splits CSV between rows, and every chunk has the columns', () => {
  const rows = Array.from({ length: 30 }, (_, index) => `${index},"two\nlines ${index}",end${index}`);
  const text = ['id,note,last', ...rows].join('\n');
  const chunks = chunkDocument({ text, kind: 'csv' }, 100);
  assert.ok(chunks.length > 5);
  for (const [index, chunk] of chunks.entries()) {
    assert.deepEqual(chunk.titlePath, ['id,note,last']);
    assert.match(chunk.text, index === 0 ? /^id,note/ : /^\d+,"two\n/);
    assert.match(chunk.text, /end\d+$/);
  }
});

test('an unclosed quote makes every line a row', () => {
  const text = `a,b\n1,"open\n${'2,x\n'.repeat(20_000)}`;
  const chunks = chunkDocument({ text, kind: 'csv' }, 100);
  for (const { text: rows } of chunks.slice(1)) assert.match(rows, /^(?:2,x\n?)+$/);
});

test('rows of a split table carry its columns', () => {
  const rows = Array.from({ length: 20 }, (_, index) => `| wick ${index} | ${index} |`);
  const text = ['# Stores', '', '| Item | Count |', '| --- | --- |', ...rows].join('\n');
  const chunks = chunkDocument({ text, kind: 'xlsx' }, 120);
  assert.deepEqual(chunks[0]?.titlePath, ['Stores']);
  for (const { titlePath } of chunks.slice(1)) assert.deepEqual(titlePath, ['Stores', 'Item | Count']);
});

test('chunks the files of an archive by their own kind, under their names', () => {
  const code = 'def light():\n    return 1';
  const text = `# a/lamp.py\n\n${code}\n\n# b.csv\n\nx,y\n1,2`;
  const chunks = chunkDocument({
    text,
    kind: 'zip',
    members: [
      { name: 'a/lamp.py', kind: 'code', codeLanguage: 'python', headingStart: 0, start: 13, end: 13 + code.length },
      { name: 'b.csv', kind: 'csv', headingStart: text.indexOf('# b'), start: text.indexOf('x,y'), end: text.length },
    ],
  });
  assert.deepEqual(
    chunks.map(({ text: own, titlePath }) => [own, titlePath]),
    [
      [code, ['a/lamp.py', 'light']],
      ['x,y\n1,2', ['b.csv', 'x,y']],
    ],
  );
  for (const { start, end, text: own } of chunks) assert.equal(own, text.slice(start, end));
});
