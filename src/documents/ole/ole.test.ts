import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compoundFile,
  docOf,
  longs,
  pptOf,
  pptRecord,
  shorts,
  xlsOf,
  xlsRecord,
} from '../../../test/security/parsers/ole-samples.ts';
import { extractDocument } from '../extract-document.ts';
import { openCompoundFile } from './compound-file.ts';
import { unpackRtf } from './unpack-rtf.ts';

async function read(bytes: Buffer, mode: 'text' | 'markdown' = 'markdown') {
  return extractDocument(
    { bytes, mode },
    { textCharsMax: 100_000, softCpuMs: 60_000, pdfEnabled: true, ocrLanguages: [] },
  );
}

const inTable = '0000162401';

test('DOC: reads headings, lists, tables and field results', async () => {
  const row = '0000162401172401';
  const file = docOf([
    ['Lighthouses\r', '0100'],
    ['See \x13 HYPERLINK "http://hidden" \x14the keeper\x15 at once\x0bor later.\r', '0000'],
    ['first point\r', '00000b460100'],
    ['below it\r', '00000a26010b460100'],
    ['Name\x07', inTable],
    ['Height\x07', inTable],
    ['\x07', row],
    ['Genoa\x07', inTable],
    ['77 m\x07', inTable],
    ['\x07', row],
    ['The end.\r', '0000'],
  ]);
  const { text, kind, title } = await read(file);
  assert.equal(
    text,
    '# Lighthouses\n\nSee the keeper at once\nor later.\n\n- first point\n  - below it\n\n| Name | Height |\n| --- | --- |\n| Genoa | 77 m |\n\nThe end.',
  );
  assert.deepEqual([kind, title], ['doc', 'Lighthouses']);
});

test('DOC: reports encrypted and truncated files', async () => {
  const file = docOf([['secret\r', '0000']], 0x0100);
  await assert.rejects(read(file), { code: 'encrypted_document', message: /password/ });
  const long = docOf([[`${'word '.repeat(3000)}\r`, '0000']]);
  await assert.rejects(read(long.subarray(0, 600)), { name: /Error/ });
});

/** A text in the table of texts, with one or two bytes per character. */
function shared(text: string, isWide: boolean): Buffer {
  const head = Buffer.concat([shorts(text.length), Buffer.from([isWide ? 1 : 0])]);
  return Buffer.concat([head, Buffer.from(text, isWide ? 'utf16le' : 'latin1')]);
}

test('XLS: reads texts, numbers, dates, formulas, booleans, errors, and a text that continues in the next record', async () => {
  const double = (value: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return bytes;
  };
  const split = shared('across', false);
  const globals = [
    xlsRecord(0xe0, shorts(0, 0)),
    xlsRecord(0xe0, shorts(0, 14)),
    xlsRecord(0xfc, longs(3, 3), shared('Name', false), shared('Größe', true), split.subarray(0, 6)),
    // The rest, now with two bytes per character.
    xlsRecord(0x3c, Buffer.from([1]), Buffer.from('oss', 'utf16le')),
  ];
  const cells = [
    xlsRecord(0xfd, shorts(0, 0, 0), longs(0)),
    xlsRecord(0xfd, shorts(0, 1, 0), longs(1)),
    xlsRecord(0xfd, shorts(0, 2, 0), longs(2)),
    xlsRecord(0x203, shorts(1, 0, 0), double(0.1 + 0.2)),
    xlsRecord(0x203, shorts(1, 1, 1), double(46_082)),
    xlsRecord(0xbd, shorts(1, 2, 0), longs((-7 << 2) | 2), shorts(0), longs(((1234 << 2) | 3) >>> 0), shorts(3)),
    xlsRecord(0x06, shorts(2, 0, 0), Buffer.from([0, 0, 0, 0, 0, 0, 0xff, 0xff]), Buffer.alloc(8)),
    xlsRecord(0x207, shorts(4), Buffer.from([0]), Buffer.from('text')),
    xlsRecord(0x205, shorts(2, 1, 0), Buffer.from([1, 0])),
    xlsRecord(0x205, shorts(2, 2, 0), Buffer.from([0x17, 1])),
    // A chart inside the sheet is not a cell.
    xlsRecord(0x809, shorts(0x600, 0x20, 0, 0)),
    xlsRecord(0x203, shorts(9, 9, 0), double(999)),
    xlsRecord(0x0a),
    xlsRecord(0x1b6, shorts(0, 0, 0, 0, 0, 6, 0, 0, 0)),
    xlsRecord(0x3c, Buffer.from([0]), Buffer.from('remark')),
    // A long one continues in the next record, now with two bytes per character; then come its fonts.
    xlsRecord(0x1b6, shorts(0, 0, 0, 0, 0, 11, 0, 0, 0)),
    xlsRecord(0x3c, Buffer.from([0]), Buffer.from('second ')),
    xlsRecord(0x3c, Buffer.from([1]), Buffer.from('note', 'utf16le')),
    xlsRecord(0x3c, longs(0, 0, 11, 0)),
  ];
  const { text, kind } = await read(xlsOf(globals, cells), 'text');
  assert.equal(
    text,
    'One\n\nName | Größe | across | \n0.3 | 2026-03-01 | -7 | 12.34\ntext | TRUE | #REF!\n\nremark\n\nsecond note',
  );
  assert.equal(kind, 'xls');
  await assert.rejects(read(xlsOf([xlsRecord(0x2f, shorts(1))], [])), { code: 'encrypted_document' });
});

test('PPT: reads slides in order under their titles, with notes; ignores masters and earlier saves', async () => {
  const wide = (text: string) => pptRecord(0x0fa0, Buffer.from(text, 'utf16le'));
  const narrow = (text: string) => pptRecord(0x0fa8, Buffer.from(text, 'latin1'));
  const name = (text: string, number: number) => pptRecord(0x0fba, Buffer.from(text, 'utf16le'), number);
  const textKind = (kind: number) => pptRecord(0x0f9f, longs(kind));
  const reference = (part: number, id: number) => pptRecord(0x03f3, longs(part, 0, 0, id, 0));
  const shape = (...records: Buffer[]) => pptRecord(0xf004, [pptRecord(0xf00d, records)]);
  const slides = [
    reference(3, 256),
    textKind(0),
    wide('Second part, first slide'),
    reference(2, 257),
    textKind(0),
    wide('Lamps'),
  ];
  const document = pptRecord(0x03e8, [
    pptRecord(0x0ff0, [reference(5, 1), textKind(0), narrow('Click to edit')], 1),
    pptRecord(0x0ff0, slides, 0),
    pptRecord(0x0ff0, [reference(4, 300)], 2),
  ]);
  const parts = [
    pptRecord(0x03ee, [shape(textKind(1), narrow('one\rtwo')), shape(pptRecord(0x0f9e, longs(0)))]),
    pptRecord(0x03ee, [
      shape(pptRecord(0x0f9e, longs(0))),
      pptRecord(0x138b, pptRecord(0x2ee0, [name('Ada', 0), name('Too dark?', 1)])),
    ]),
    pptRecord(0x03f0, [pptRecord(0x03f1, longs(257, 0)), shape(textKind(2), narrow('Speak slowly.'))]),
    pptRecord(0x03f8, [shape(narrow('master'))]),
  ];
  const { text, kind, pages, marks } = await read(pptOf(document, parts));
  assert.equal(
    text,
    '# Second part, first slide\n\nComment: Too dark? (Ada)\n\n# Lamps\n\n- one\n- two\n\nNotes: Speak slowly.',
  );
  assert.deepEqual([kind, pages, marks.map(({ page }) => page)], ['ppt', 2, [1, 2]]);
  await assert.rejects(read(pptOf(document, parts, 0xf3d1_c4df)), { code: 'encrypted_document' });
});

test('MSG: reads a message as an email with its files, and a nested message as text', async () => {
  const wide = (text: string) => Buffer.from(text, 'utf16le');
  const properties = (head: number, ...list: readonly (readonly [number, bigint])[]) =>
    Buffer.concat([
      Buffer.alloc(head),
      ...list.map(([tag, value]) => {
        const entry = Buffer.alloc(16);
        entry.writeUInt32LE(tag, 0);
        entry.writeBigUInt64LE(value, 8);
        return entry;
      }),
    ]);
  const sent = BigInt(Date.UTC(2026, 10, 15, 8) + 11_644_473_600_000) * 10_000n;
  const { text, kind, title, members } = await read(
    compoundFile({
      '__properties_version1.0': properties(32, [0x0039_0040, sent], [0x3ffd_0003, 1251n]),
      '__substg1.0_0037001F': wide('Ferries'),
      // In a code page.
      '__substg1.0_0C1A001E': Buffer.from([0xc0, 0xed, 0xed, 0xe0]),
      '__substg1.0_5D01001F': wide('anna@example.org'),
      '__substg1.0_1000001F': wide('They leave\r\nat dawn.\0'),
      '__recip_version1.0_#00000000': {
        '__properties_version1.0': properties(8, [0x0c15_0003, 2n]),
        '__substg1.0_3001001F': wide('Ben'),
        '__substg1.0_39FE001F': wide('ben@example.org'),
      },
      '__attach_version1.0_#00000000': {
        '__substg1.0_3707001F': wide('times.txt'),
        '__substg1.0_37010102': Buffer.from('06:10'),
      },
      '__attach_version1.0_#00000001': {
        '__substg1.0_3701000D': {
          '__substg1.0_0037001F': wide('Earlier'),
          '__substg1.0_1000001F': wide('The mail before.'),
        },
      },
    }),
    'text',
  );
  assert.equal(
    text,
    'From: Анна <anna@example.org>\nCc: Ben <ben@example.org>\nDate: 2026-11-15T08:00:00.000Z\nSubject: Ferries\n\nThey leave\nat dawn.\n\ntimes.txt\n\n06:10\n\nEarlier.txt\n\nSubject: Earlier\n\nThe mail before.',
  );
  assert.deepEqual([kind, title, members?.length], ['email', 'Ferries', 2]);
});

test('unpacks the example of compressed RTF from its specification', () => {
  const packed = Buffer.from(
    '2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0',
    'hex',
  );
  assert.equal(unpackRtf(packed).toString('latin1'), '{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n');
});

test('stops reading compound files with cycles, false sizes or shared bytes', async () => {
  const file = docOf([[`${'word '.repeat(4000)}\r`, '0000']]);
  const fat = (file.readUInt32LE(76) + 1) * 512;
  const circle = Buffer.from(file);
  circle.writeUInt32LE(1, fat);
  circle.writeUInt32LE(0, fat + 4);
  await assert.rejects(read(circle), { code: 'extraction_failed' });
  const list = Buffer.from(file);
  list.writeUInt32LE(0, 68);
  await assert.rejects(async () => openCompoundFile(list).read('WordDocument')?.readUInt32LE(0));
  const many = compoundFile(
    Object.fromEntries(
      Array.from({ length: 400 }, (_, index) => [`s${index}`, Buffer.alloc(index === 0 ? 100_000 : 1)]),
    ),
  );
  const root = openCompoundFile(many);
  assert.equal(root.streams.length, 400);
  assert.throws(
    () => {
      for (let time = 0; time < 100; time += 1) root.read('s0');
    },
    { code: 'extraction_failed' },
  );
});

test('names a converter for unsupported formats, and reports passwords of newer programs', async () => {
  await assert.rejects(read(compoundFile({ VisioDocument: Buffer.alloc(10) })), {
    code: 'unsupported_content_type',
    message: /soffice --headless --convert-to pdf/,
  });
  const word2 = Buffer.concat([Buffer.from('dba52d00', 'hex'), Buffer.alloc(600, 1)]);
  await assert.rejects(read(word2), { message: /soffice --headless --convert-to docx/ });
  await assert.rejects(read(compoundFile({ EncryptedPackage: Buffer.alloc(10) })), { code: 'encrypted_document' });
});
