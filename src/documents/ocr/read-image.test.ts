import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { pdfOf, stream } from '../../../test/security/parsers/bombs.ts';
import { extractDocument } from '../extract-document.ts';
import { tiffPages } from './read-image.ts';

const corpus = new URL('../../../test/corpus/', import.meta.url);
const limits = { textCharsMax: 100_000, softCpuMs: 120_000, pdfEnabled: true, ocrLanguages: ['eng'] };

function read(file: string, ocrLanguages: readonly string[] = limits.ocrLanguages) {
  const bytes = readFileSync(new URL(`refused/${file}`, corpus));
  return extractDocument({ bytes, mode: 'text' }, { ...limits, ocrLanguages });
}

/** The printed English of the pictured page, without other scripts and the table's layout. */
const printed = [
  'The lamp is lit at dusk and put out at dawn. Its keeper writes the hour into the log.',
  'The wick is trimmed every four hours. Use the brass scissors, never the iron ones.',
  'When the rocks on the far side cannot be seen, the horn sounds.',
  'Three blasts every ninety seconds, as the harbour office wishes.',
];

test('reads a printed page at 200 dpi with at most 3 % wrong characters', async () => {
  const { kind, text, recognised } = await read('unsupported_content_type/poppler-200dpi.png');
  assert.equal(kind, 'image');
  assert.ok((recognised?.confidence ?? 0) > 80, 'reports the confidence');
  const found = text.replace(/\s+/g, ' ');
  const [wrong, all] = printed.reduce(
    ([sum, length], line) => [sum + errorsIn(line, found), length + line.length],
    [0, 0],
  );
  assert.ok(wrong <= all * 0.03, `${wrong} of ${all} characters are wrong:\n${text}`);
});

test('reads scanned PDF pages; refuses them without languages', async () => {
  const { text, pages, recognised } = await read('no_text_in_document/scanned.pdf');
  assert.match(text, /The lamp is lit at dusk and put out at dawn/);
  assert.deepEqual([pages, recognised?.pages], [1, 1]);
  await assert.rejects(read('no_text_in_document/scanned.pdf', []), { code: 'no_text_in_document' });
  await assert.rejects(read('unsupported_content_type/poppler-200dpi.png', []), { code: 'unsupported_content_type' });
});

test('reports a missing language, but still reads a PDF with text', async () => {
  await assert.rejects(read('no_text_in_document/scanned.pdf', ['xho']), {
    code: 'no_text_in_document',
    message: /npm install .*@tesseract\.js-data\/xho/,
  });
  const text = stream(Buffer.from('BT /F1 12 Tf 72 700 Td (Words on a page.) Tj ET'));
  const dots = stream(
    Buffer.alloc(10_000, 200),
    ' /Type /XObject /Subtype /Image /Width 100 /Height 100 /ColorSpace /DeviceGray /BitsPerComponent 8',
  );
  const page =
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 7 0 R /Resources << /XObject << /X0 6 0 R >> >> >>';
  const mixed = pdfOf([text, dots, stream(Buffer.from('q 200 0 0 200 0 0 cm /X0 Do Q')), page]);
  const bytes = Buffer.from(
    mixed.toString('latin1').replace('/Kids [4 0 R ] /Count 1', '/Kids [4 0 R 8 0 R] /Count 2'),
    'latin1',
  );
  const document = await extractDocument({ bytes, mode: 'text' }, { ...limits, ocrLanguages: ['xho'] });
  assert.deepEqual([document.text, document.pages], ['Words on a page.', 2]);
});

test('finds every page of a TIFF and stops at a cycle of pages', () => {
  const tiff = Buffer.alloc(32);
  tiff.write('II*\0', 'latin1');
  // Two empty directories at 8 and 16; the second points back to the first.
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt32LE(16, 10);
  tiff.writeUInt32LE(8, 18);
  const pages = tiffPages(tiff);
  assert.equal(pages?.count, 2);
  assert.deepEqual(
    [0, 1].map((page) => Buffer.from(pages?.withPageFirst(page) ?? []).readUInt32LE(4)),
    [8, 16],
  );
  assert.equal(tiffPages(Buffer.from('II*\0')), undefined);
  assert.equal(tiffPages(Buffer.from('no picture at all')), undefined);
});

/** Minimum edits that turn some part of the text into the line. */
function errorsIn(line: string, text: string): number {
  let row = new Uint32Array(text.length + 1);
  for (let index = 1; index <= line.length; index += 1) {
    const next = new Uint32Array(text.length + 1);
    next[0] = index;
    for (let at = 1; at <= text.length; at += 1) {
      const changed = (row[at - 1] ?? 0) + (line[index - 1] === text[at - 1] ? 0 : 1);
      next[at] = Math.min(changed, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1);
    }
    row = next;
  }
  return Math.min(...row);
}
