/** Files of older office programs that refer to the same bytes many times, or lie about themselves. */
import { type FormatBomb, times } from './format-bombs.ts';
import { compoundFile, docOf, longs, pptOf, pptRecord, shorts, xlsOf, xlsRecord } from './ole-samples.ts';

const properties = Array.from({ length: 20 }, (): [string, string] => ['x', '0000']);

export const oleBombs: FormatBomb[] = [
  {
    name: 'DOC: a page of properties that is named by the ten thousand',
    bytes: () => docOf([['words of it\r', '0000'], ...properties], 0, times * 75_000),
    ends: { text: /^words of it/ },
  },
  {
    name: 'DOC: a text without an end of paragraph that is named thousands of times',
    bytes: () => docOf([['no end '.repeat(10_000), '0000']], 0, times * 5000),
    ends: { text: /^no end no end/ },
  },
  {
    name: 'XLS: empty texts by the hundred thousand',
    bytes: () =>
      xlsOf(
        [
          xlsRecord(0xfc, longs(1, 1), shorts(4), Buffer.from('\0Name')),
          ...Array.from({ length: times * 800 }, () => xlsRecord(0x3c, Buffer.alloc(7500))),
        ],
        [xlsRecord(0xfd, shorts(0, 0, 0), longs(0))],
      ),
    ends: { text: /Name/ },
  },
  {
    name: 'PPT: ten thousands of slides that are the same one',
    bytes: () => {
      const slide = pptRecord(0x03ee, [pptRecord(0x0fa8, Buffer.from('the same words '.repeat(100)))]);
      const reference = pptRecord(0x03f3, longs(2, 0, 0, 256, 0));
      const list = pptRecord(0x0ff0, Array<Buffer>(times * 25_000).fill(reference), 0);
      return pptOf(pptRecord(0x03e8, [list]), [slide]);
    },
    ends: { text: /the same words/ },
  },
  {
    name: 'DOC: results of fields within one another, ten thousands deep',
    bytes: () =>
      docOf([
        ['seen\r', '0000'],
        [`${'\x13\x14'.repeat(times * 50_000)}${'x'.repeat(200_000)}\r`, '0000'],
      ]),
    ends: { text: /^seen/ },
  },
  {
    name: 'PPT: a slide with ten thousands of texts',
    bytes: () => {
      const text = pptRecord(0x0fa8, Buffer.from('words'));
      const shapes = Array.from({ length: times * 40_000 }, (_, index) => pptRecord(0x0f9e, longs(index)));
      const slide = pptRecord(0x03ee, shapes);
      const list = Array.from({ length: times * 40_000 }, () => [pptRecord(0x0f9f, longs(0)), text]).flat();
      return pptOf(pptRecord(0x03e8, [pptRecord(0x0ff0, [pptRecord(0x03f3, longs(2, 0, 0, 256, 0)), ...list], 0)]), [
        slide,
      ]);
    },
    ends: { text: /words/ },
  },
  {
    name: 'MSG: thousands of recipients',
    bytes: () => {
      const recipient = { '__substg1.0_3001001F': Buffer.from('somebody', 'utf16le') };
      const recipients = Array.from({ length: times * 20_000 }, (_, index) => [
        `__recip_version1.0_#${index}`,
        recipient,
      ]);
      return compoundFile({
        '__properties_version1.0': Buffer.alloc(32),
        '__substg1.0_1000001F': Buffer.from('words of the message', 'utf16le'),
        ...Object.fromEntries(recipients),
      });
    },
    ends: { text: /words of the message/ },
  },
];
