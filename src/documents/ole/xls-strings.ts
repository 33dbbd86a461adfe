import { decodeCodePage } from '../rtf/rtf-charsets.ts';

/** Reads a text that follows its length, a number of `lengthBytes` bytes. */
export type ReadText = (record: Buffer, at: number, lengthBytes: 1 | 2) => string;

/** Creates the reader of texts. Since Excel 97, a flag tells if characters have one byte or two; before, a code page applies. */
export function createTextReader(isUnicode: boolean, codePage: number): ReadText {
  return (record, at, lengthBytes) => {
    if (at + lengthBytes > record.length) return '';
    const length = record.readUIntLE(at, lengthBytes);
    const start = at + lengthBytes;
    if (!isUnicode) return decodeCodePage(record.subarray(start, start + length), codePage);
    return start < record.length ? characters(record, start + 1, length, (record.readUInt8(start) & 1) !== 0) : '';
  };
}

export function characters(bytes: Buffer, at: number, count: number, isWide: boolean): string {
  return isWide ? bytes.toString('utf16le', at, at + count * 2) : bytes.toString('latin1', at, at + count);
}

/**
 * Reads the table of shared texts ([MS-XLS] 2.4.265 SST). It may span several records. If a text continues in the next record,
 * that record begins with a flag for the character width.
 */
export function readXlsStrings(records: readonly Buffer[]): string[] {
  const strings: string[] = [];
  let index = 0;
  let record = records[0] ?? Buffer.alloc(0);
  let at = 8;
  const next = (): boolean => {
    index += 1;
    record = records[index] ?? Buffer.alloc(0);
    at = 0;
    return index < records.length;
  };
  const skip = (bytes: number): void => {
    let left = bytes;
    while (left > record.length - at) {
      left -= record.length - at;
      if (!next()) return;
    }
    at += left;
  };
  for (;;) {
    if (at >= record.length && !next()) return strings;
    if (at + 3 > record.length) return strings;
    const length = record.readUInt16LE(at);
    const flags = record.readUInt8(at + 2);
    at += 3;
    const runs = (flags & 8) !== 0 && at + 2 <= record.length ? record.readUInt16LE(at) : 0;
    if ((flags & 8) !== 0) at += 2;
    const extra = (flags & 4) !== 0 && at + 4 <= record.length ? record.readUInt32LE(at) : 0;
    if ((flags & 4) !== 0) at += 4;
    let isWide = (flags & 1) !== 0;
    let text = '';
    for (let left = length; left > 0; ) {
      if (at >= record.length) {
        if (!next() || record.length === 0) break;
        isWide = (record.readUInt8(0) & 1) !== 0;
        at = 1;
      }
      const width = isWide ? 2 : 1;
      const count = Math.min(left, Math.max(1, Math.floor((record.length - at) / width)));
      text += characters(record, at, count, isWide);
      at += count * width;
      left -= count;
    }
    strings.push(text);
    skip(runs * 4 + extra);
  }
}
