import { decodeCodePage } from '../rtf/rtf-charsets.ts';

/** Reads a text that follows its length, a number of `lengthBytes` bytes. */
export type ReadText = (record: Buffer, at: number, lengthBytes: 1 | 2) => string;

/** Creates the reader of texts. Since Excel 97, a flag tells the character width. Older files have a code page instead. */
export function createTextReader(isUnicode: boolean, codePage: number): ReadText {
  return (record, at, lengthBytes) => {
    if (at + lengthBytes > record.length) return '';
    const length = record.readUIntLE(at, lengthBytes);
    const start = at + lengthBytes;
    if (!isUnicode) return decodeCodePage(record.subarray(start, start + length), codePage);
    return start < record.length
      ? decodeCharacters(record, start + 1, length, (record.readUInt8(start) & 1) !== 0)
      : '';
  };
}

export function decodeCharacters(bytes: Buffer, at: number, count: number, isWide: boolean): string {
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
  const nextRecord = (): boolean => {
    index += 1;
    record = records[index] ?? Buffer.alloc(0);
    at = 0;
    return index < records.length;
  };
  const skipBytes = (bytes: number): void => {
    let bytesLeft = bytes;
    while (bytesLeft > record.length - at) {
      bytesLeft -= record.length - at;
      if (!nextRecord()) return;
    }
    at += bytesLeft;
  };
  for (;;) {
    if (at >= record.length && !nextRecord()) return strings;
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
    for (let charsLeft = length; charsLeft > 0; ) {
      if (at >= record.length) {
        if (!nextRecord() || record.length === 0) break;
        isWide = (record.readUInt8(0) & 1) !== 0;
        at = 1;
      }
      const width = isWide ? 2 : 1;
      const count = Math.min(charsLeft, Math.max(1, Math.floor((record.length - at) / width)));
      text += decodeCharacters(record, at, count, isWide);
      at += count * width;
      charsLeft -= count;
    }
    strings.push(text);
    skipBytes(runs * 4 + extra);
  }
}
