import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanResults, resultText, webAddress } from './result-text.ts';

test('only http and https addresses without credentials are results', () => {
  const bad = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ftp://a/',
    'data:text/html,x',
    '//a.example',
    'https://u:p@a.example/',
    '',
    7,
  ];
  for (const url of bad) assert.equal(webAddress(url), undefined, String(url));
  assert.equal(webAddress('https://example.org'), 'https://example.org');
  assert.equal(webAddress('https://example.org/ä b'), 'https://example.org/%C3%A4%20b');
  assert.equal(webAddress(`https://example.org/${'x'.repeat(3000)}`), undefined);
});

test('drops duplicate URLs and respects the limit', () => {
  const raw = ['a', 'a', 'b', 'c'].map((name) => ({ title: name, url: `https://${name}.example/`, snippet: '' }));
  assert.deepEqual(
    cleanResults(raw, 'plain', 2).map(({ title }) => title),
    ['a', 'b'],
  );
});

test("T081: removes providers' markup", () => {
  const html = 'The <b>best</b> &amp; &lt;i&gt;<script>alert(1)</script><style>x{}</style> one<br>two';
  assert.equal(resultText(html, 'html', 200), 'The best & <i> one two');
  assert.equal(resultText('<b>bold</b> vector<int> a < b<script src=x>', 'plain', 200), 'bold vector<int> a < b');
});

test('T091: invisible and control characters do not reach the model', () => {
  const hidden = 'a\u200bb\u202ec\u0000d\u001b[31me\u{e0041}\u{e0042}f\u2066g\nh';
  assert.equal(resultText(hidden, 'plain', 200), 'abcd[31mefg h');
  assert.equal(resultText(hidden, 'html', 200).includes('\u202e'), false);
});

test('long text is cut at a word, never inside a character', () => {
  assert.equal(resultText('word '.repeat(100), 'plain', 20), 'word word word…');
  const emoji = resultText('😀'.repeat(300), 'plain', 200);
  assert.equal(emoji.isWellFormed(), true);
  assert.ok(emoji.length <= 200);
});

test('ignores non-text values', () => {
  assert.deepEqual(cleanResults([{ title: { a: 1 }, url: 'https://a.example/x', snippet: null }], 'html', 5), [
    { title: 'a.example', url: 'https://a.example/x', snippet: '' },
  ]);
});
