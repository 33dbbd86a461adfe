import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isCarrelError } from '../../src/base/errors.ts';
import type { DocumentSource } from '../../src/documents/document.ts';
import { createExtractor } from '../../src/documents/extractor.ts';
import { createPositions } from '../../src/documents/document-positions.ts';
import { chunkDocument } from '../../src/search/chunking/chunk-document.ts';
import { type CorpusFile, corpusFiles, refusedFiles } from './corpus.ts';
import { size } from '../support/sizes.ts';

const extractor = createExtractor({ cpuMsMax: 60_000, memoryMb: 512, workersMax: 2, queueMax: 10_000 });
after(() => extractor.close());

const files = corpusFiles();

function read({ bytes, name }: Pick<CorpusFile, 'bytes' | 'name'>, more: Partial<DocumentSource> = {}) {
  return extractor.extract({ bytes, filename: name, mode: 'markdown', ...more });
}

test('the corpus has every format that the knowledge base promises (issue: Formats)', () => {
  const folders = new Set(files.map(({ folder }) => folder));
  const promised =
    'pdf docx pptx xlsx doc xls odt ods odp epub rtf html markdown text csv json xml yaml email notebook code zip'.split(' ');
  assert.deepEqual(
    promised.filter((kind) => !folders.has(kind)),
    [],
  );
});

for (const file of files) {
  test(`${file.folder}/${file.name}: extracts its text in order`, async () => {
    const document = await read(file);
    assert.equal(document.kind, file.folder);
    assert.equal(document.truncated, undefined);
    assert.ok(file.expected.length > 0);
    let at = 0;
    for (const line of file.expected) {
      const found = document.text.indexOf(line, at);
      assert.notEqual(found, -1, `missing behind ${at}: ${line}\n${document.text}`);
      at = found + line.length;
    }
  });
}

for (const file of refusedFiles()) {
  test(`${file.name}: is rejected as ${file.folder}, under any name`, async () => {
    for (const filename of [file.name, 'notes.txt']) {
      await assert.rejects(read({ ...file, name: filename }), { code: file.folder });
    }
  });
}

test('detects the type by content, despite a wrong name and type', async () => {
  const formats = 'pdf docx pptx xlsx doc xls odt ods odp epub rtf html email notebook zip'.split(' ');
  for (const file of files.filter(({ folder }) => formats.includes(folder))) {
    const { kind } = await read({ ...file, name: 'file.bin' }, { contentType: 'application/octet-stream' });
    assert.equal(kind, file.folder, file.name);
  }
  for (const format of formats) {
    const file = files.find(({ folder }) => folder === format);
    assert.ok(file);
    assert.equal((await read(file, { contentType: 'text/plain' })).kind, format, file.name);
  }
});

test('chunks have the page of a PDF or the slide of a presentation', async () => {
  for (const name of ['chromium.pdf', 'impress.pptx', 'pandoc.pptx', 'impress.odp']) {
    const document = await read(fileNamed(name));
    const positions = createPositions(document);
    const pageOf = (text: string) => positions.at(document.text.indexOf(text)).page;
    if (name.endsWith('.pdf')) {
      assert.deepEqual([pageOf('The lamp'), pageOf('The fog signal'), pageOf('Words in other')], [1, 2, 3]);
    } else assert.deepEqual([pageOf('Aurora'), pageOf('Tower'), pageOf('One more keeper')], [2, 3, 4], name);
    const [first] = chunkDocument(document);
    assert.equal(positions.of(first ?? { start: 0, end: 0 }).page, 1);
  }
});

test('keeps lines of code and text, also inside an archive', async () => {
  const original = Buffer.from(fileNamed('lamp.py').bytes).toString();
  const line = original.split('\n').findIndex((text) => text.includes('def light')) + 1;
  for (const name of ['lamp.py', 'info-zip.zip', 'python-zip64.zip']) {
    const document = await read(fileNamed(name));
    const position = createPositions(document).at(document.text.indexOf('def light'));
    assert.equal(position.line, line, name);
    if (name.endsWith('.zip')) assert.equal(position.member, 'handbook/plans/lamp.py');
    const chunk = chunkDocument(document, 260).find(({ text }) => text.includes('def light'));
    assert.deepEqual(chunk?.titlePath.slice(-2), ['Lamp', 'light'], name);
  }
});

test('names unreadable members of an archive, and reads the rest', async () => {
  const document = await read(fileNamed('nested.zip'));
  assert.deepEqual(
    document.omitted?.map(({ name, code }) => [name, code]),
    [
      ['handbook/plans/scan.png', 'unsupported_content_type'],
      ['inner.zip', 'unsupported_content_type'],
    ],
  );
  assert.equal(document.members?.length, 5);
});

test('extracts the attachments of a mail, but not of a mail attached to it', async () => {
  const mail = await read(fileNamed('attachments.eml'));
  assert.deepEqual(
    mail.members?.map(({ name, kind }) => [name, kind]),
    [
      ['stores.csv', 'csv'],
      ['Handbuch für Wärter.docx', 'docx'],
    ],
  );
  assert.equal(mail.byline, 'Ada Keeper <ada@light.example>');
  const forwarded = await read(fileNamed('forwarded.eml'));
  assert.deepEqual(
    forwarded.members?.map(({ kind }) => kind),
    ['email'],
  );
});

const cleanCodes = [
  'extraction_failed',
  'extraction_too_complex',
  'no_text_in_document',
  'unsupported_content_type',
  'encrypted_document',
];

for (const file of [...files, ...refusedFiles()]) {
  test(`${file.folder}/${file.name}: cut short or with flipped bits it is a document or a named error`, async () => {
    await Promise.all([...cutShort(file.bytes), ...flipped(file.bytes)].map((bytes) => outcome({ ...file, bytes })));
  });
}

async function outcome(file: Pick<CorpusFile, 'bytes' | 'name'>): Promise<void> {
  try {
    const { text, marks } = await read(file);
    for (const { offset } of marks) assert.ok(offset >= 0 && offset <= text.length);
  } catch (error) {
    assert.ok(isCarrelError(error), String(error));
    assert.ok(cleanCodes.includes(error.code), `${file.name}: ${error.code} ${String(error.cause)}`);
  }
}

const cuts = size({ quick: 3, full: 20 });

function cutShort(bytes: Uint8Array): Uint8Array[] {
  return Array.from({ length: cuts }, (_, index) => bytes.subarray(0, Math.floor((bytes.length * index) / cuts)));
}

/** Flips the same bits in every run, so that failures are repeatable. */
function flipped(bytes: Uint8Array): Uint8Array[] {
  let state = bytes.length;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return Array.from({ length: size({ quick: 1, full: 8 }) }, (_, round) => {
    const copy = Uint8Array.from(bytes);
    for (let flips = 0; flips <= 2 + round * 4; flips += 1) {
      const at = random(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
    }
    return copy;
  });
}

function fileNamed(name: string): CorpusFile {
  const file = files.find((candidate) => candidate.name === name);
  assert.ok(file, name);
  return file;
}
