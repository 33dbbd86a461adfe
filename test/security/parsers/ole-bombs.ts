/** Files of older office programs that name the same bytes again and again, or lie about themselves. */
import type { FormatBomb } from './format-bombs.ts';
import { docOf, longs, pptOf, pptRecord, shorts, xlsOf, xlsRecord } from './ole-samples.ts';

const properties = Array.from({ length: 20 }, (): [string, string] => ['x', '0000']);

export const oleBombs: FormatBomb[] = [
  {
    name: 'DOC: a page of properties that is named 300,000 times',
    bytes: () => docOf([['words of it\r', '0000'], ...properties], 0, 300_000),
    ends: { text: /^words of it/ },
  },
  {
    name: 'DOC: a text without an end of paragraph that is named 20,000 times',
    bytes: () => docOf([['no end '.repeat(10_000), '0000']], 0, 20_000),
    ends: { text: /^no end no end/ },
  },
  {
    name: 'XLS: 2,000,000 empty texts',
    bytes: () =>
      xlsOf(
        [
          xlsRecord(0xfc, longs(1, 1), shorts(4), Buffer.from('\0Name')),
          ...Array.from({ length: 800 }, () => xlsRecord(0x3c, Buffer.alloc(7500))),
        ],
        [xlsRecord(0xfd, shorts(0, 0, 0), longs(0))],
      ),
    ends: { text: /Name/ },
  },
  {
    name: 'PPT: 100,000 slides that are the same one',
    bytes: () => {
      const slide = pptRecord(0x03ee, [pptRecord(0x0fa8, Buffer.from('the same words '.repeat(100)))]);
      const reference = pptRecord(0x03f3, longs(2, 0, 0, 256, 0));
      const list = pptRecord(0x0ff0, Array<Buffer>(100_000).fill(reference), 0);
      return pptOf(pptRecord(0x03e8, [list]), [slide]);
    },
    ends: { text: /the same words/ },
  },
];
