import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from '../html.ts';
import { plainText, renderMarkdown } from './markdown.ts';

const render = (text: string): string => renderMarkdown(text).markup.replaceAll('\n', '');

test('renders headings, emphasis, code, lists, quotes, rules and tables', () => {
  assert.equal(
    render('# Title\n\nSome **bold**, *soft* and `x < y`.'),
    '<h2>Title</h2><p>Some <strong>bold</strong>, <em>soft</em> and <code>x &lt; y</code>.</p>',
  );
  assert.equal(
    render('- one\n- two\n  - inner\n\n1. first\n2. second'),
    '<ul><li>one</li><li>two<ul><li>inner</li></ul></li></ul><ol><li>first</li><li>second</li></ol>',
  );
  assert.equal(
    render('> said\n> so\n\n---\n\n```ts\nconst a = 1;\n# no heading\n```\nafter'),
    '<blockquote><p>saidso</p></blockquote><hr><pre tabindex="0"><code>const a = 1;# no heading</code></pre><p>after</p>',
  );
  assert.match(
    render('| a | b |\n|---|:-:|\n| 1 | `x\\|y` |'),
    /<th scope="col">a<\/th>.*<td>1<\/td><td><code>x\|y<\/code><\/td>/,
  );
  assert.equal(render('snake_case_name and 2 * 3 * 4'), '<p>snake_case_name and 2 * 3 * 4</p>');
});

test('shows HTML as text, images as their description, and links only for web and mail addresses', () => {
  assert.doesNotMatch(
    render('<img src=x onerror=alert(1)> <script>alert(1)</script>\n\n<svg onload=alert(1)>'),
    /<(?:img|script|svg)/,
  );
  assert.equal(render('![a cat](http://evil.example/x.png)'), '<p><span class="picture">a cat</span></p>');
  for (const address of [
    'javascript:alert(1)',
    'data:text/html,x',
    'JaVaScRiPt:alert(1)',
    'vbscript:x',
    '//evil.example',
    'file:///etc/passwd',
  ]) {
    assert.equal(render(`[click](${address})`), '<p>click</p>', address);
  }
  assert.match(
    render('[a](https://example.com/"onmouseover="x)'),
    /href="https:\/\/example.com\/&quot;onmouseover=&quot;x"/,
  );
  assert.match(
    render('see https://example.com/a.'),
    /<a href="https:\/\/example.com\/a" rel="noopener noreferrer nofollow" target="_blank">https:\/\/example.com\/a<\/a>\./,
  );
});

test('marks the blocks of a passage and words in plain text', () => {
  const text = '# One\n\nfirst\n\nsecond *word*';
  const start = text.indexOf('second');
  const { markup } = renderMarkdown(text, { passage: [start, start + 10], mark: (run) => html`<i>${run}</i>` });
  assert.match(markup, /<p><i>first<\/i><\/p><p class="passage"><i>second <\/i><em><i>word<\/i><\/em><\/p>/);
});

test('marks only the passage in a long paragraph', () => {
  const text = `${'Nothing happened. '.repeat(9)}The gulls sleep. The end.`;
  const start = text.indexOf('The gulls');
  const { markup } = renderMarkdown(text, { passage: [start, start + 16] });
  assert.match(markup, /^<p>Nothing.* <span class="passage">The gulls sleep\.<\/span> The end\.<\/p>$/);
});

test('renders hostile texts in linear time', () => {
  const pieces = ['[', '](', '**', '*a ', '`', '> ', '- ', '| ', '~~', '<', '#', '\n', '![', '    ', '|---|\n'];
  for (const piece of pieces) {
    const text = piece.repeat(20_000 / piece.length);
    assert.ok(renderMarkdown(text).markup.length > 0 || text.trim() === '');
    assert.equal(typeof plainText(text), 'string');
  }
});

test('snippets have no Markdown marks and no table bars', () => {
  assert.equal(
    plainText('### rm `carrel rm <uri>`: **deletes** [docs](https://x.y) | a | b |'),
    'rm carrel rm <uri>: deletes docs · a · b',
  );
  assert.equal(
    plainText('| flag | what it does | |---|---| | `--json` | print JSON |'),
    'flag · what it does · --json · print JSON',
  );
  assert.equal(
    plainText('once more - deleted documents _keep_ their snake_case id'),
    'once more deleted documents keep their snake_case id',
  );
});
