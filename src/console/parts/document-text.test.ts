import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvRows, documentText } from './document-text.ts';

test('CSV fields may contain separators, quotation marks and line breaks', () => {
  assert.deepEqual(csvRows('a,b\n"x, y","says ""hi"""\n"two\nlines",2\n'), [
    ['a', 'b'],
    ['x, y', 'says "hi"'],
    ['two\nlines', '2'],
  ]);
  assert.deepEqual(csvRows('a;b\n1,5;2'), [
    ['a', 'b'],
    ['1,5', '2'],
  ]);
});

test('code has line numbers and a marked passage, and its HTML is escaped', () => {
  const { markup } = documentText('code', 'one\n<b>two</b>', { firstLine: 7, passage: [4, 6] });
  assert.equal(
    markup,
    '<pre class="code"><code><span class="line" data-line="7">one\n</span><span class="line passage" data-line="8">&lt;b&gt;two&lt;/b&gt;\n</span></code></pre>',
  );
});
