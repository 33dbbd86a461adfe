/** Documents that cost far more to read than their size suggests (security reference: T085 to T087, Appendix A). */
import { deflateSync } from 'node:zlib';
import { size } from '../../support/sizes.ts';

export interface Bomb {
  name: string;
  contentType: string;
  bytes: () => Uint8Array;
}

/** Multiplier for the length of what repeats. */
const times = size({ quick: 0.05, full: 1 });

export const htmlBombs: Bomb[] = [
  html('nested div', () => '<div>'.repeat(times * 100_000)),
  html('nested b', () => '<b>'.repeat(times * 50_000)),
  html('attributes', () => `<p ${Array.from({ length: times * 100_000 }, (_, index) => `a${index}=1`).join(' ')}>x`),
  html('nested tables', () => '<table><tr><td>'.repeat(times * 5000)),
  html('nested lists', () => '<ul><li>x'.repeat(times * 3000)),
  html('font then p', () => '<font>'.repeat(times * 3000) + '<p>x'.repeat(times * 3000)),
  html(
    'different fonts then p',
    () =>
      Array.from({ length: times * 3000 }, (_, index) => `<font color=${index}>`).join('') +
      '<p>x'.repeat(times * 3000),
  ),
  html('one long text', () => 'word '.repeat(times * 1_600_000)),
  html('a million tiny tags', () => '<i>x</i>'.repeat(1_000_000)),
  html('opening brackets', () => '<'.repeat(times * 500_000)),
  html('select', () => '<select>'.repeat(times * 20_000)),
  html('an unclosed comment', () => `<!--${'x'.repeat(times * 500_000)}`),
  html('an unclosed script', () => `<script>${'x'.repeat(times * 500_000)}`),
  html('spaces', () => `<p>a${' '.repeat(times * 500_000)}b</p><pre>a${' '.repeat(times * 500_000)}b</pre>`),
  html('nested quotes with text', () => '<blockquote>x'.repeat(times * 50_000)),
  html('nested div named menu', () => '<div class="menu share comments">x'.repeat(times * 50_000)),
  html('lists of links beside one another', () => '<ul><li><a href="/x">top</a></ul>'.repeat(times * 50_000)),
  html('headings that lead away', () => '<h3>Related</h3><p>x</p>'.repeat(times * 50_000)),
  html('a row of many cells', () => `<table><tr>${'<td colspan=1000>x'.repeat(times * 100_000)}</table>`),
  html(
    'nested div beside text',
    () =>
      `${'<p>Words that are enough to be taken for the content of the page.</p>'.repeat(9)}${'<div>'.repeat(times * 100_000)}x`,
  ),
  html('a long class', () => `<div class="${'menu-'.repeat(times * 400_000)}">x</div>`),
  html('a long style', () => `<div style="${'; '.repeat(times * 1_000_000)}">x</div>`),
];

export const otherBombs: Bomb[] = [
  text('JSON nested deep', 'application/json', () => '['.repeat(times * 1_000_000) + ']'.repeat(times * 1_000_000)),
  text('JSON with a long string', 'application/json', () => `["${'\\\\'.repeat(times * 4_000_000)}"]`),
  text('XML that laughs a billion times', 'application/xml', billionLaughs),
  text('XML of opening brackets', 'application/xml', () => `<?xml version="1.0"?>${'<'.repeat(times * 500_000)}`),
  text('XML of declarations', 'application/xml', () => `<?xml version="1.0"?>${'<!a>'.repeat(times * 300_000)}`),
  text('XML nested deep', 'application/xml', () => `<?xml version="1.0"?>${'<a>x'.repeat(times * 300_000)}`),
  text(
    'a feed of many entries',
    'application/rss+xml',
    () =>
      `<rss><channel>${'<item><title>x</title><description>&lt;b&gt;y&lt;/b&gt;</description></item>'.repeat(times * 100_000)}`,
  ),
];

/** The last two always reach a limit, after which a reader must start. */
export const pdfBombs: Bomb[] = [
  pdf('triple Flate', () =>
    pdfOf([stream(deflate(deflate(deflate(blank(times * 200)))), ' /Filter [/FlateDecode /FlateDecode /FlateDecode]')]),
  ),
  pdf('a long row of Tj', () => pdfOf([stream(deflate(showText(times * 10)), ' /Filter /FlateDecode')])),
  pdf('equal kids', () => pdfOf([stream(Buffer.from('BT /F1 12 Tf (x) Tj ET'))], 200_000)),
  pdf('Flate to 300 MB', () => pdfOf([stream(deflate(blank(300)), ' /Filter /FlateDecode')])),
  pdf('forms that double 26 times', doublingForms),
];

export function billionLaughs(): string {
  const levels = Array.from({ length: 9 }, (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`);
  return `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">${levels.join('')}]><x>&l9;</x>`;
}

/** Objects 1 to 3 are catalogue, pages and font, 4 the page, 5 its contents; the rest as given. */
export function pdfOf(contents: string[], kids = 1, trailer = ''): Buffer {
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${'4 0 R '.repeat(kids)}] /Count ${kids} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /X0 6 0 R >> >> >>`,
    ...contents,
  ];
  let body = '%PDF-1.7\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const start = body.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  body += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  body += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer}>>\nstartxref\n${start}\n%%EOF`;
  return Buffer.from(body, 'latin1');
}

export function stream(data: Buffer, entries = ''): string {
  return `<< /Length ${data.length}${entries} >>\nstream\n${data.toString('latin1')}\nendstream`;
}

export function doublingForms(): Buffer {
  const forms = Array.from({ length: 26 }, (_, level) => {
    const inner = level === 25 ? 'BT /F1 12 Tf (x) Tj ET' : '/X0 Do /X0 Do';
    const next = level === 25 ? '' : ` /XObject << /X0 ${level + 7} 0 R >>`;
    const entries = ` /Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >>${next} >>`;
    return stream(Buffer.from(inner), entries);
  });
  return pdfOf([stream(Buffer.from('/X0 Do /X0 Do')), ...forms]);
}

/** A cache: creating hundreds of megabytes takes longer than reading them. */
const made = new Map<string, Uint8Array>();

function pdf(name: string, make: () => Uint8Array): Bomb {
  return {
    name: `PDF: ${name}`,
    contentType: 'application/pdf',
    bytes: () => {
      const bytes = made.get(name) ?? make();
      made.set(name, bytes);
      return bytes;
    },
  };
}

function html(name: string, make: () => string): Bomb {
  return text(name, 'text/html', () => `<!doctype html><title>t</title><body>${make()}`);
}

function text(name: string, contentType: string, make: () => string): Bomb {
  return { name, contentType, bytes: () => Buffer.from(make()) };
}

function deflate(data: Buffer): Buffer {
  return deflateSync(data, { level: 1 });
}

function blank(megabytes: number): Buffer {
  return Buffer.alloc(megabytes * 1024 * 1024, 0x20);
}

function showText(megabytes: number): Buffer {
  const line = 'BT /F1 12 Tf (aaaaaaaaaa) Tj ET\n';
  return Buffer.alloc(megabytes * 1024 * 1024, line);
}
