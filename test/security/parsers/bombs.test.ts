import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isCarrelError } from '../../../src/base/errors.ts';
import { createExtractor } from '../../../src/documents/extractor.ts';
import { size } from '../../support/sizes.ts';
import { randomNumbers } from '../../support/test-vectors.ts';
import { type Bomb, htmlBombs, otherBombs, pdfBombs, pdfOf, stream } from './bombs.ts';

// Loading the PDF reader alone takes 300 ms.
const extractor = createExtractor({ cpuMsMax: size({ quick: 800, full: 5000 }), memoryMb: 256, workersMax: 2 });
after(() => extractor.close());

const cleanCodes = new Set([
  'extraction_timeout',
  'extraction_memory',
  'extraction_too_complex',
  'extraction_failed',
  'no_text_in_document',
]);
const small = {
  bytes: Buffer.from('<!doctype html><p>A small page.</p>'),
  contentType: 'text/html',
  mode: 'text' as const,
};

const page = stream(Buffer.from('BT /F1 12 Tf (x) Tj ET'));
const strangePdfs: [string, () => Uint8Array][] = [
  ['truncated', () => pdfOf([page]).subarray(0, 300)],
  ['a header and 500 kB of zeros', () => Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(500_000)])],
  ['arrays nested 100,000 deep', () => pdfOf([page, '['.repeat(100_000)])],
  ['a page that is its own parent', () => pdfOf([page, '<< /Type /Pages /Kids [6 0 R 2 0 R] /Count 9 >>'])],
  [
    'a count of two thousand million',
    () => Buffer.from(pdfOf([page]).toString('latin1').replace('/Count 1 ', '/Count 2000000000 '), 'latin1'),
  ],
  [
    'a table of objects that points at itself',
    () =>
      Buffer.from(
        pdfOf([page])
          .toString('latin1')
          .replace(/startxref\n\d+/, 'startxref\n9'),
        'latin1',
      ),
  ],
  ['20,000 objects', () => pdfOf([page, ...Array.from({ length: 20_000 }, () => '<< >>')])],
];
for (const [name, make] of strangePdfs) {
  test(`PDF: ${name}: ends in a result or a named error (T087)`, () => outcomeOf(make(), 'application/pdf'));
}

test('random bytes under every type end in a result or a named error', async () => {
  const random = randomNumbers(1);
  const types = [
    'text/html',
    'application/json',
    'application/xml',
    'application/pdf',
    'text/plain',
    'application/rss+xml',
    '',
  ];
  for (let round = 0; round < size({ quick: 21, full: 140 }); round += 1) {
    const bytes = Uint8Array.from({ length: 2000 }, () => random() * 256);
    const start = round % 3 === 0 ? Buffer.from('%PDF-1.4\n') : Buffer.from('<a');
    const contentType = types[round % types.length] ?? '';
    await outcomeOf(Buffer.concat([start, bytes]), contentType);
  }
});

for (const bomb of [...htmlBombs, ...otherBombs, ...pdfBombs]) {
  test(`${bomb.name}: ends in a result or a named error while another page is read (T085, T087)`, () => tryBomb(bomb));
}

async function tryBomb(bomb: Bomb): Promise<void> {
  const outcome = outcomeOf(bomb.bytes(), bomb.contentType);
  const meanwhile = extractor.extract(small);
  assert.equal((await meanwhile).text, 'A small page.');
  await outcome;
}

async function outcomeOf(bytes: Uint8Array, contentType: string): Promise<void> {
  try {
    const { text } = await extractor.extract({ bytes, contentType, mode: 'markdown' });
    assert.ok(text.length <= 2_000_000);
  } catch (error) {
    assert.ok(isCarrelError(error), String(error));
    const codes =
      contentType === '' || bytes.length < 3000 ? [...cleanCodes, 'unsupported_content_type'] : [...cleanCodes];
    assert.ok(codes.includes(error.code), error.code);
  }
}
