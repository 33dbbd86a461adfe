import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PageExtent } from '../document.ts';
import { readHtml } from './read-html.ts';

const url = 'https://h.example/a/b.html';
const filler =
  'This paragraph is long enough to be taken for what the page is about, because it has several clauses, and it goes on.';

function markdown(html: string, extent: PageExtent = 'all'): string {
  return readHtml(html, { mode: 'markdown', url, charsMax: 100_000, extent }).text;
}

function text(html: string, extent: PageExtent = 'all'): string {
  return readHtml(html, { mode: 'text', url, charsMax: 100_000, extent }).text;
}

test('removes only marked boilerplate from a saved page (003 ingestion)', () => {
  const html = `<body><nav>Home Prices</nav><div class="text"><h1>Pumps</h1><p>${filler}</p><p>${filler}</p><p>${filler}</p></div>
    <div class="x">Spare parts: Hall 7, Mrs Ekblad</div><ul><li><a href="/a">Manual of the P7</a></li></ul>
    <div class="sidebar">Advertisement</div><footer>Imprint</footer></body>`;
  assert.doesNotMatch(text(html, 'content'), /Ekblad|Manual of the P7/);
  const extracted = text(html, 'page');
  for (const part of ['Pumps', 'Ekblad', 'Manual of the P7']) assert.ok(extracted.includes(part), part);
  assert.doesNotMatch(extracted, /Prices|Advertisement|Imprint/);
  // If nearly everything is marked, the marks mean something else.
  assert.match(text('<body><footer>Only a footer, of one line.</footer></body>', 'page'), /Only a footer/);
});

test('Markdown: prints headings, emphasis, code, links and images', () => {
  const html = `<h2>Head</h2><p>A <b>bold</b>, <em>slanted</em>, <s>gone</s> and <code>a*b</code> <a href="../c?x=1#y">link</a>
    <img src="i.png" alt="A picture"> end.</p><hr>`;
  assert.equal(
    markdown(html),
    '## Head\n\nA **bold**, *slanted*, ~~gone~~ and `a*b` [link](https://h.example/c?x=1#y) ![A picture](https://h.example/a/i.png) end.\n\n---',
  );
});

test('Markdown: nested lists keep their numbers and their paragraphs', () => {
  const html = '<ol start="4"><li>four<ul><li>x<li>y</ul><li><p>five</p><p>more</p></ol>';
  assert.equal(markdown(html), '4. four\n   - x\n   - y\n5. five\n\n   more');
});

test('Markdown: prints tables with escaped pipes, spans, and a header only if the page has one', () => {
  const headed = '<table><tr><th>a|b<th>c<tr><td>1<br>2<td><b>3</b></table>';
  assert.equal(markdown(headed), '| a\\|b | c |\n| --- | --- |\n| 1 2 | **3** |');
  const headless = '<table><tr><td colspan=2>x<td>y<tr><td>1<td>2<td>3</table>';
  assert.equal(markdown(headless), '|  |  |  |\n| --- | --- | --- |\n| x |  | y |\n| 1 | 2 | 3 |');
});

test('Markdown: prints code as written, with its language and a fence that it does not contain', () => {
  const html = '<pre class="highlight"><code class="language-TS">if (a &lt; b) {\n  ```\n}\n</code></pre>';
  assert.equal(markdown(html), '````ts\nif (a < b) {\n  ```\n}\n````');
});

test('Markdown: quotes nest and keep paragraphs', () => {
  assert.equal(markdown('<blockquote><p>a<p>b<blockquote>c</blockquote></blockquote>'), '> a\n>\n> b\n\n> > c');
});

test('Markdown: text that looks like Markdown stays text', () => {
  assert.equal(markdown('<p># no heading</p>'), '\\# no heading');
  assert.equal(markdown('<p>1. no list</p>'), '1\\. no list');
  assert.equal(markdown('<p>- no list</p>'), '\\- no list');
  assert.equal(markdown('<p>&gt; no quote</p>'), '\\> no quote');
  assert.equal(
    markdown('<p>*a* `b` [c](d) snake_case _e_ &lt;b&gt;</p>'),
    '\\*a\\* \\`b\\` \\[c\\](d) snake_case \\_e\\_ \\<b>',
  );
});

test('Markdown: drops an active address and keeps its text (T081)', () => {
  for (const href of [
    'javascript:alert(1)',
    'JaVaScRiPt:x',
    'data:text/html,x',
    'vbscript:x',
    '  javascript:x',
    '#here',
  ]) {
    assert.equal(markdown(`<p><a href="${href}">go</a>`), 'go', href);
  }
  assert.equal(markdown('<p><img src="data:image/png;base64,x" alt="pic">x'), 'x');
  assert.equal(markdown('<p><a href="/a(b) c">go</a>'), '[go](https://h.example/a%28b%29%20c)');
});

test('resolves links against the base of the page', () => {
  assert.equal(markdown('<base href="/deep/"><p><a href="x">go</a>'), '[go](https://h.example/deep/x)');
});

test('text: paragraphs, line breaks, lists, rows and code keep their lines', () => {
  const html = `<p>one<br>two</p><div>three &amp; four</div><ul><li>x<ul><li>y</ul><li>z</ul>
    <table><tr><th>a<th>b<tr><td>1<td>2</table><pre>  k = 1\n    m</pre>`;
  assert.equal(text(html), 'one\ntwo\n\nthree & four\n\n- x\n  - y\n- z\n\na | b\n1 | 2\n\n  k = 1\n    m');
});

test('drops text in the background colour (T091)', () => {
  const unseen = [
    '<p style="color:#fff">no</p>',
    '<p style="COLOR: White !important">no</p>',
    '<p style="color:rgb(254, 254, 254)">no</p>',
    '<p style="color:hsl(0 0% 100%)">no</p>',
    '<font color="#FFFFFF">no</font>',
    '<p style="background:#123456;color:#123456">no</p>',
    '<p style="background-color:teal;color:teal">no</p>',
    '<div style="background:black no-repeat"><p><span style="color:#050505">no</span></p></div>',
    '<p class="note" style="background:#fff;color:#fff">no</p>',
    '<table><tr><td bgcolor="navy" style="color:navy">no</td></tr></table>',
    '<p style="color:transparent">no</p><p style="color:rgba(0,0,0,0)">no</p><p style="color:#00000000">no</p>',
    '<div style="color:white">no <b>no</b></div>',
    '<p style="opacity:.01">no</p><p style="font-size:1px">no</p><p style="font-size:0.01em">no</p>',
  ];
  for (const html of unseen) assert.equal(text(`<p>before</p>${html}<p>after</p>`), 'before\n\nafter', html);
  const seen = [
    '<p style="color:#fff;background:#000">yes</p>',
    '<div style="background:navy"><p style="color:white">yes</p></div>',
    '<div style="background-image:url(dark.png)"><p style="color:white">yes</p></div>',
    '<div class="banner"><p style="color:#fff">yes</p></div>',
    '<table><tr><td bgcolor="#003366"><font color="white">yes</font></td></tr></table>',
    '<div style="color:white"><p style="color:#333">yes</p></div>',
    '<p style="color:inherit;background:white">yes</p>',
    '<p style="color:white"><a href="/x">yes</a></p>',
    '<p style="color:red">yes</p><p style="font-size:12px;opacity:.5">yes</p>',
  ];
  for (const html of seen) assert.match(text(`<p>before</p>${html}<p>after</p>`), /yes/, html);
  assert.match(text('<body bgcolor="#000000" text="#ffffff"><p>yes</p>'), /yes/);
});

test('drops script, style, controls and hidden text (T086, T091)', () => {
  const html = `<p>seen</p><script>no</script><style>no</style><noscript>no</noscript><template>no</template><svg><title>no</title></svg>
    <p hidden>no</p><p aria-hidden="true">no</p><p style="color:red; display : none">no</p><p style="visibility:hidden">no</p>
    <p style="font-size:0">no</p><p style="position:absolute;left:-9999px">no</p><span class="sr-only">no</span>
    <textarea>no</textarea><select><option>no</select><!-- no --><svg><script>no</script></svg>`;
  assert.equal(text(html), 'seen');
  assert.equal(text(html, 'content'), 'seen');
});

test('broken markup loses no text (T086)', () => {
  assert.equal(
    text('<body><body><p>a<div>b</p>c</div><b><i>d</b>e</i>&#x110000;&#0;&xyzzy;<p>f'),
    'a\n\nb\n\nc\n\nde��&xyzzy;\n\nf',
  );
  assert.equal(text('<p>a<plaintext></p><b>'), 'a\n\n</p><b>');
  assert.equal(text('<table><tr><td>x</td>stray</table>'), 'stray\n\nx');
});

test('finds the content among navigation, sidebar, related links, newsletter, share bar, consent and footer', () => {
  const html = `<body><div class="cookie-banner">${filler} ${filler} ${filler}</div><header><a href="/">Site</a></header>
    <ul class="main-menu"><li><a href="/1">One</a><li><a href="/2">Two</a></ul>
    <div class="wrap"><div class="text"><h1>Title</h1><p>${filler}</p><div class="share-bar"><a href="#">Tweet</a></div><h2>Part</h2><p>${filler}</p>
    <h3>Read also</h3><ul><li><a href="/x">Something else entirely that happened</a></ul></div>
    <div class="sidebar"><p>About us and our many friends, who are very nice.</p></div></div>
    <div class="newsletter">Sign up now for our letter, it is free, and good.</div><footer>© Site, all rights reserved.</footer>`;
  assert.equal(text(html, 'content'), `Title\n\n${filler}\n\nPart\n\n${filler}`);
});

test('a name that covers most of the page is not boilerplate: a menu of dishes stays', () => {
  const dish = (name: string) =>
    `<div class="menu-item"><h3>${name}</h3><p>Slowly cooked with onions, wine and a leaf of bay.</p></div>`;
  const html = `<ul class="nav"><li><a href="/">Home</a></ul><div class="menu">${dish('Stew')}${dish('Soup')}${dish('Pie')}</div>`;
  const result = text(html, 'content');
  for (const name of ['Stew', 'Soup', 'Pie']) assert.ok(result.includes(name), name);
});

test('drops comments below an article; keeps a discussion thread', () => {
  const comment =
    '<div class="comment"><p>I do not agree at all with this, and here is a long reason why I do not.</p></div>';
  const article = `<article><h1>Title</h1><p>${filler}</p><p>${filler}</p><p>${filler}</p><p>${filler}</p></article>`;
  assert.ok(!text(`${article}<div id="comments">${comment.repeat(9)}</div>`, 'content').includes('agree'));
  assert.equal(text(`<h1>A link</h1>${comment.repeat(9)}`, 'content').split('agree').length, 10);
});

test('keeps a documentation section whose id sounds like boilerplate', () => {
  const html = `<main><h1>Guide</h1><p>${filler}</p><section id="navigation-menu"><h2>Navigation menu</h2><p>${filler}</p></section></main>`;
  assert.ok(text(html, 'content').includes('Navigation menu'));
});

const chapterNames = [
  ...['voting', 'login', 'tags', 'related-work', 'signature', 'sidebar', 'consent', 'newsletter', 'toc', 'footer'],
  ...[
    'menu',
    'share',
    'widgets',
    'actions',
    'feedback',
    'weather',
    'advertising',
    'subscription',
    'popular',
    'overlay',
  ],
];

test('a name alone never removes a section with running text', () => {
  const sentence = (name: string) =>
    `How the ${name} works here is told in a sentence or two, and it ends with the word ${name.replace(/\W/g, '')}end.`;
  for (const attribute of ['id', 'class']) {
    const chapter = (name: string) =>
      `<section ${attribute}="${name}"><div><h2>About it</h2><p>${sentence(name)}</p></div></section>`;
    const html = `<body><h1>Handbook</h1><p>${filler}</p>${chapterNames.map(chapter).join('')}</body>`;
    for (const extent of ['content', 'page'] as const) {
      const extracted = text(html, extent);
      const lost = chapterNames.filter((name) => !extracted.includes(`${name.replace(/\W/g, '')}end`));
      assert.deepEqual(lost, [], `${attribute}, ${extent}`);
    }
  }
  const box = (name: string) => `<div class="${name}">${sentence(name)}</div>`;
  const extracted = text(
    `<h1>Handbook</h1>${chapterNames.map((name) => `<p>${filler}</p>${box(name)}`).join('')}`,
    'page',
  );
  for (const name of chapterNames) assert.ok(extracted.includes(sentence(name)), name);
});

test('removes a box with a field, a button or links by its name', () => {
  const html = `<h1>Handbook</h1><p>${filler}</p>
    <div class="newsletter"><h2>News</h2><p>Sign up for our letter, which comes every month and is free.</p><input></div>
    <div class="related"><h2>Related</h2><a href="/1">Something that also happened in the same place</a></div>`;
  for (const extent of ['content', 'page'] as const) assert.doesNotMatch(text(html, extent), /Sign up|also happened/);
});

test('keeps a page of only links', () => {
  const html = '<ul><li><a href="/1">First thing</a><li><a href="/2">Second thing</a><li><a href="/3">Third</a></ul>';
  assert.equal(text(html, 'content'), '- First thing\n- Second thing\n- Third');
});

test('removes the site name from the title if the page confirms it', () => {
  const title = (html: string) => readHtml(html, { mode: 'text', charsMax: 1000 }).title;
  assert.equal(title('<title>Bread – Kitchen</title><h1>Bread</h1><p>x'), 'Bread');
  assert.equal(title('<title>Bread - a history</title><p>x'), 'Bread - a history');
  assert.equal(title('<title>Bread | Kitchen</title><meta property="og:site_name" content="Kitchen"><p>x'), 'Bread');
  assert.equal(title('<meta property="og:title" content="Bread"><title>Kitchen</title><p>x'), 'Bread');
  assert.equal(title('<h1>Bread <i>now</i></h1><p>x'), 'Bread now');
  assert.equal(title('<p>x'), null);
});

test('returns language, author and date as the page declares them', () => {
  const html = `<html lang="pt-BR"><meta name="author" content="Ana"><meta property="article:published_time" content="2026-01-05"><p>x`;
  const { language, byline, published } = readHtml(html, { mode: 'text', charsMax: 1000 });
  assert.deepEqual([language, byline, published], ['pt-BR', 'Ana', '2026-01-05']);
});
