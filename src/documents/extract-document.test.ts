import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billionLaughs, pdfOf, stream } from '../../test/security/parsers/bombs.ts';
import { epubOf } from '../../test/security/parsers/office-samples.ts';
import { encryptedPdf } from '../../test/security/parsers/pdf-samples.ts';
import type { DocumentSource } from './document.ts';
import { extractDocument } from './extract-document.ts';

const limits = { textCharsMax: 10_000, softCpuMs: 60_000, pdfEnabled: true };

function extract(content: string | Uint8Array, contentType?: string, more: Partial<DocumentSource> = {}) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return extractDocument({ bytes, mode: 'text', ...(contentType ? { contentType } : {}), ...more }, limits);
}

test('formats JSON as written, keeping numbers and duplicate keys', async () => {
  const { text, kind } = await extract('{"a":[1,{"b":12345678901234567890}],"a":{},"c":"x\\"}"}', 'application/json');
  assert.equal(kind, 'json');
  assert.equal(
    text,
    '{\n  "a": [\n    1,\n    {\n      "b": 12345678901234567890\n    }\n  ],\n  "a": {},\n  "c": "x\\"}"\n}',
  );
});

test('keeps invalid JSON unchanged', async () => {
  for (const broken of ['{"a":', '[1}', 'nonsense', '["a]']) {
    assert.deepEqual(pick(await extract(broken, 'application/json')), { kind: 'text', text: broken });
  }
});

test('Markdown keeps its text, and its first heading is the title', async () => {
  const markdown = '```\n# no\n```\r\n\r\n## Yes #\r\n\r\ntext';
  const document = await extract(markdown, 'text/markdown');
  assert.equal(document.title, 'Yes');
  assert.equal(document.text, '```\n# no\n```\n\n## Yes #\n\ntext');
});

test('the title of Markdown is plain text, from the front matter or a heading of any kind', async () => {
  const titles: [string, string | null][] = [
    ['---\nlayout: doc\ntitle: "Set up: a guide"\n---\n# Other', 'Set up: a guide'],
    ['---\ntitle: It works\r\n---\n', 'It works'],
    ['---\n# a comment\nlayout: doc\n---\n# Not the comment', 'Not the comment'],
    ['---\n\n# After a rule', 'After a rule'],
    ['---\n# Between rules\n\n---\n# Other', 'Between rules'],
    ['# qs <sup>[![Version][badge]][package]</sup>', 'qs'],
    ['# [`fetch`](https://h.example) and **more** of __init__', 'fetch and more of __init__'],
    ['<h1 align="center">\n  <img alt="logo" src="x.png">\n  Zod\n</h1>\n\n## Usage', 'Zod'],
    ['<h1><img alt="logo" src="x.png"></h1>\n\n## Usage', 'Usage'],
    ['Underlined [links](/a)\n=====', 'Underlined links'],
    ['# ![only](image.png)', '![only](image.png)'],
    ['no heading', null],
  ];
  for (const [markdown, title] of titles) {
    assert.equal((await extract(markdown, 'text/markdown')).title, title, markdown);
  }
});

test('XML: prints an outline and never expands custom entities', async () => {
  const xml = '<?xml version="1.0"?><a x="1"><b>one &amp; two</b><![CDATA[<three>]]><!-- no --><c/></a>';
  assert.equal((await extract(xml)).text, 'a x="1":\n  b: one & two\n  <three>\n  c');
  assert.equal((await extract(billionLaughs())).text, 'x: &l9;');
});

test('RSS: reads title, link, date and summary of each entry', async () => {
  const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><description>All of it</description>
    <item><title>One &amp; only</title><link>https://h.example/1</link><pubDate>Mon, 05 Jan 2026</pubDate>
    <description><![CDATA[<p>First <b>part</b>.</p><p>Second.</p>]]></description></item>
    <item><title>Two</title><description>Plain.</description></item></channel></rss>`;
  const { title, text, kind } = await extract(rss, 'application/rss+xml');
  assert.deepEqual([kind, title], ['feed', 'News']);
  assert.equal(
    text,
    'All of it\n\nOne & only\nhttps://h.example/1\nMon, 05 Jan 2026\n\nFirst part.\n\nSecond.\n\nTwo\n\nPlain.',
  );
});

test('Atom: uses the link of the entry, not of its comments', async () => {
  const atom = `<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><entry><title>Hello</title>
    <link rel="replies" href="https://h.example/c"/><link href="https://h.example/?a=1&amp;b=2"/>
    <updated>2026-01-05</updated><summary type="html">&lt;i&gt;Hi&lt;/i&gt;</summary></entry></feed>`;
  assert.equal((await extract(atom)).text, 'Hello\nhttps://h.example/?a=1&b=2\n2026-01-05\n\nHi');
});

test('PDF: reads text with paragraphs, pages and title', async () => {
  const page = 'BT /F1 12 Tf 72 700 Td (First line) Tj 0 -14 Td (second line) Tj 0 -40 Td (New paragraph) Tj ET';
  const document = await extract(
    pdfOf([stream(Buffer.from(page))], 2, '/Info << /Title (A title) /CreationDate (D:20260105) >> '),
  );
  assert.deepEqual(
    [document.kind, document.pages, document.title, document.published],
    ['pdf', 2, 'A title', '2026-01-05'],
  );
  const once = 'First line\nsecond line\n\nNew paragraph';
  assert.equal(document.text, `${once}\n\n${once}`);
});

test('PDF: rejects files that are damaged, disabled, without text or with a password', async () => {
  await assert.rejects(extract(pdfOf([stream(Buffer.from('0 0 m'))])), { code: 'no_text_in_document' });
  await assert.rejects(extract(encryptedPdf()), { code: 'encrypted_document' });
  await assert.rejects(extract('%PDF-1.7 nothing more'), { code: 'extraction_failed' });
  const bytes = pdfOf([stream(Buffer.from('BT (x) Tj ET'))]);
  // T088: if disabled, a PDF is refused under any name.
  const off = extractDocument({ bytes, contentType: 'text/html', mode: 'text' }, { ...limits, pdfEnabled: false });
  await assert.rejects(off, { code: 'unsupported_content_type', message: /switched off/ });
});

test('PDF: reads form values and comments, and ignores "untitled" as title', async () => {
  const annotated = pdfOf([
    stream(Buffer.from('BT /F1 12 Tf 72 700 Td (The body.) Tj ET')),
    '<< /Type /Annot /Subtype /Text /Rect [0 0 9 9] /Contents (Check this figure) >>',
    '<< /Type /Annot /Subtype /Widget /FT /Tx /T (family) /TU (Family name) /V (Ekblad) /Rect [0 0 90 20] >>',
    '<< /Title (Untitled) >>',
  ]);
  const bytes = Buffer.from(
    annotated
      .toString('latin1')
      .replace('/MediaBox', '/Annots [6 0 R 7 0 R] /MediaBox')
      .replace('/Root 1 0 R', '/Root 1 0 R /Info 8 0 R'),
    'latin1',
  );
  const { text, title } = await extract(bytes);
  assert.equal(text, 'The body.\n\nComment: Check this figure\nFamily name: Ekblad');
  assert.equal(title, null);
});

test('PDF: stops between two pages at the limit and reports how far it came', async () => {
  const lines = `(${'word '.repeat(15)}) Tj T* `.repeat(50);
  const bytes = pdfOf([stream(Buffer.from(`BT /F1 12 Tf 12 TL 20 700 Td ${lines} ET`))], 4);
  const { truncated } = await extract(bytes);
  assert.deepEqual(truncated, { reason: 'characters', read: 3, of: 4, unit: 'pages' });
});

test('reads a mailbox message by message', async () => {
  const mail = (name: string, text: string) =>
    `From ${name}@h.example Mon Jan  5 10:00:00 2026\nMessage-ID: <${name}@h.example>\nFrom: ${name}@h.example\nTo: b@h.example\nSubject: About ${name}\n\n${text}\n\n`;
  const { text, members, kind } = await extract(mail('ada', 'One.\n\nFrom here on, nothing.') + mail('bob', 'Two.'));
  assert.equal(kind, 'email');
  assert.equal(members?.length, 2);
  for (const part of ['Subject: About ada', 'From here on, nothing.', 'Subject: About bob', 'Two.']) {
    assert.ok(text.includes(part), part);
  }
});

test('a mail type without a subtype is plain text', async () => {
  const mail =
    'Message-ID: <a@h.example>\nMIME-Version: 1.0\nFrom: a@h.example\nTo: b@h.example\nContent-Type: text; charset=us-ascii\n\nStill to be read.\n';
  const { text, omitted = [] } = await extract(mail);
  assert.match(text, /Still to be read\.$/);
  assert.deepEqual(omitted, []);
});

test('EPUB: ignores obfuscated fonts but rejects an encrypted chapter', async () => {
  const book = (algorithm: string, path: string) =>
    epubOf('<item id="a" media-type="application/xhtml+xml" href="a.xhtml"/>', '<spine><itemref idref="a"/></spine>', {
      'OPS/a.xhtml': '<html><body><p>The lamp is lit.</p></body></html>',
      'META-INF/encryption.xml': `<encryption xmlns:enc="e"><enc:EncryptedData><enc:EncryptionMethod Algorithm="${algorithm}"/><enc:CipherData><enc:CipherReference URI="${path}"/></enc:CipherData></enc:EncryptedData></encryption>`,
    });
  for (const algorithm of ['http://www.idpf.org/2008/embedding', 'http://www.w3.org/2001/04/xmlenc#aes128-cbc']) {
    assert.equal((await extract(book(algorithm, 'OPS/font/Sans.ttf'))).text, 'The lamp is lit.');
  }
  const locked = book('http://www.w3.org/2001/04/xmlenc#aes128-cbc', 'OPS/a.xhtml');
  await assert.rejects(extract(locked), { code: 'encrypted_document' });
});

test('truncates text at the limit and reports it', async () => {
  for (const type of ['text/plain', 'text/html', 'text/markdown']) {
    const { text, truncated } = await extract('word '.repeat(4000), type);
    assert.equal(truncated?.reason, 'characters', type);
    assert.ok(text.length <= limits.textCharsMax && text.length > limits.textCharsMax - 10, type);
  }
  assert.equal((await extract('short', 'text/plain')).truncated, undefined);
});

function pick({ kind, text }: { kind: string; text: string }): { kind: string; text: string } {
  return { kind, text };
}
