/** Minimal files of older office programs: a compound file ([MS-CFB]) around the streams of each. */

export interface OleFolderContent {
  [name: string]: Buffer | OleFolderContent;
}

const sectorBytes = 512;
const [freeSector, chainEnd, fatSector, noEntry] = [0xffff_ffff, 0xffff_fffe, 0xffff_fffd, 0xffff_ffff];

const [smallBytes, smallerThan] = [64, 4096];

export function compoundFile(content: OleFolderContent): Buffer {
  const sectors: Buffer[] = [];
  const links: number[] = [];
  const add = (bytes: Buffer): number => {
    const count = Math.ceil(bytes.length / sectorBytes);
    if (count === 0) return chainEnd;
    const first = sectors.length;
    for (let index = 0; index < count; index += 1) {
      const sector = Buffer.alloc(sectorBytes);
      bytes.copy(sector, 0, index * sectorBytes);
      sectors.push(sector);
      links.push(index === count - 1 ? chainEnd : first + index + 1);
    }
    return first;
  };
  const small: Buffer[] = [];
  const smallLinks: number[] = [];
  /** Streams of less than 4,096 bytes share one stream, in sectors of 64. */
  const addStream = (bytes: Buffer): number => {
    if (bytes.length >= smallerThan || bytes.length === 0) return add(bytes);
    const first = smallLinks.length;
    const count = Math.ceil(bytes.length / smallBytes);
    small.push(bytes, Buffer.alloc(count * smallBytes - bytes.length));
    for (let index = 0; index < count; index += 1) smallLinks.push(index === count - 1 ? chainEnd : first + index + 1);
    return first;
  };
  const entries: Buffer[] = [];
  const addEntry = (name: string, kind: number, start: number, size: number): Buffer => {
    const entry = Buffer.alloc(128);
    entry.write(name, 'utf16le');
    entry.writeUInt16LE((name.length + 1) * 2, 64);
    entry.writeUInt8(kind, 66);
    for (const at of [68, 72, 76]) entry.writeUInt32LE(noEntry, at);
    entry.writeUInt32LE(start >>> 0, 116);
    entry.writeUInt32LE(size, 120);
    entries.push(entry);
    return entry;
  };
  const fill = (folder: Buffer, inside: OleFolderContent): void => {
    let before: Buffer | undefined;
    for (const [name, value] of Object.entries(inside)) {
      const index = entries.length;
      if (before === undefined) folder.writeUInt32LE(index, 76);
      else before.writeUInt32LE(index, 72);
      if (Buffer.isBuffer(value)) before = addEntry(name, 2, addStream(value), value.length);
      else {
        before = addEntry(name, 1, 0, 0);
        fill(before, value);
      }
    }
  };
  const root = addEntry('Root Entry', 5, chainEnd, 0);
  fill(root, content);
  const shared = Buffer.concat(small);
  root.writeUInt32LE(add(shared) >>> 0, 116);
  root.writeUInt32LE(shared.length, 120);
  const smallTable = add(longs(...smallLinks));
  const directory = add(Buffer.concat(entries));
  const fatStart = sectors.length;
  let fatCount = 1;
  while (fatCount * (sectorBytes / 4) < fatStart + fatCount) fatCount += 1;
  const fat = Buffer.alloc(fatCount * sectorBytes, 0xff);
  links.forEach((link, index) => {
    fat.writeUInt32LE(link, index * 4);
  });
  for (let index = 0; index < fatCount; index += 1) fat.writeUInt32LE(fatSector, (fatStart + index) * 4);
  const header = Buffer.alloc(sectorBytes, 0xff);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(header);
  header.fill(0, 8, 76);
  header.writeUInt16LE(3, 26);
  header.writeUInt16LE(0xfffe, 28);
  header.writeUInt16LE(9, 30);
  header.writeUInt16LE(6, 32);
  header.writeUInt32LE(fatCount, 44);
  header.writeUInt32LE(directory, 48);
  header.writeUInt32LE(smallerThan, 56);
  header.writeUInt32LE(smallTable >>> 0, 60);
  header.writeUInt32LE(chainEnd, 68);
  for (let index = 0; index < 109; index += 1) {
    header.writeUInt32LE(index < fatCount ? fatStart + index : freeSector, 76 + index * 4);
  }
  return Buffer.concat([header, ...sectors, fat]);
}

const textAt = 2048;

/**
 * Word 97. Each paragraph has its text, including the end mark, and its properties: a style and changes to it. The text and
 * the page of properties are referenced `times` times.
 */
export function docOf(paragraphs: readonly (readonly [string, string])[], flags = 0, times = 1): Buffer {
  const text = paragraphs.map(([line]) => line).join('');
  const document = Buffer.alloc(textAt + Math.ceil((text.length * 2) / sectorBytes) * sectorBytes + sectorBytes);
  document.writeUInt16LE(0xa5ec, 0);
  document.writeUInt16LE(0xc1, 2);
  document.writeUInt16LE(0x0200 | flags, 10);
  document.writeUInt32LE(text.length * times, 0x4c);
  document.write(text, textAt, 'utf16le');
  const page = document.length - sectorBytes;
  document.writeUInt8(paragraphs.length, page + 511);
  let [end, offset] = [textAt, 510];
  document.writeUInt32LE(end, page);
  for (const [index, [line, properties]] of paragraphs.entries()) {
    end += line.length * 2;
    document.writeUInt32LE(end, page + (index + 1) * 4);
    const own = Buffer.from(properties, 'hex');
    offset -= own.length + (own.length % 2 === 0 ? 2 : 1);
    offset -= offset % 2;
    if (own.length % 2 === 0) {
      document.writeUInt8(own.length / 2, page + offset + 1);
      own.copy(document, page + offset + 2);
    } else {
      document.writeUInt8((own.length + 1) / 2, page + offset);
      own.copy(document, page + offset + 1);
    }
    document.writeUInt8(offset / 2, page + (paragraphs.length + 1) * 4 + index * 13);
  }
  const pieces = Buffer.alloc(5 + 4 + times * 12);
  pieces.writeUInt8(2, 0);
  pieces.writeUInt32LE(4 + times * 12, 1);
  const pages = Buffer.alloc(4 + times * 8);
  pages.writeUInt32LE(textAt, 0);
  for (let count = 1; count <= times; count += 1) {
    pieces.writeUInt32LE(text.length * count, 5 + count * 4);
    pieces.writeUInt32LE(textAt, 5 + (times + 1) * 4 + (count - 1) * 8 + 2);
    pages.writeUInt32LE(end, count * 4);
    pages.writeUInt32LE(page / sectorBytes, (times + count) * 4);
  }
  for (const [index, start, length] of [
    [33, 0, pieces.length],
    [13, pieces.length, pages.length],
  ] as const) {
    document.writeUInt32LE(start, 0x9a + index * 8);
    document.writeUInt32LE(length, 0x9e + index * 8);
  }
  return compoundFile({ WordDocument: document, '1Table': Buffer.concat([pieces, pages]) });
}

export function xlsRecord(type: number, ...parts: readonly Buffer[]): Buffer {
  const data = Buffer.concat(parts);
  const head = Buffer.alloc(4);
  head.writeUInt16LE(type, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}

export function shorts(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    bytes.writeUInt16LE(value & 0xffff, index * 2);
  });
  return bytes;
}

const [begin, end] = [0x809, 0x0a];

/** Excel 97, with one sheet. `globals` come before its records. */
export function xlsOf(globals: readonly Buffer[], cells: readonly Buffer[]): Buffer {
  const first = xlsRecord(begin, shorts(0x600, 5, 0, 0));
  const name = Buffer.from('\x03\0One', 'latin1');
  const sheetLength = 4 + 6 + name.length;
  const at = first.length + Buffer.concat(globals).length + sheetLength + 4;
  const sheet = xlsRecord(0x85, shorts(at & 0xffff, at >> 16, 0), name);
  const parts = [first, ...globals, sheet, xlsRecord(end), xlsRecord(begin, shorts(0x600, 16, 0, 0))];
  return compoundFile({ Workbook: Buffer.concat([...parts, ...cells, xlsRecord(end)]) });
}

export function pptRecord(type: number, data: Buffer | readonly Buffer[], instance = 0): Buffer {
  const inside = Buffer.isBuffer(data) ? data : Buffer.concat(data);
  const head = Buffer.alloc(8);
  head.writeUInt16LE((instance << 4) | (Buffer.isBuffer(data) ? 0 : 0x0f), 0);
  head.writeUInt16LE(type, 2);
  head.writeUInt32LE(inside.length, 4);
  return Buffer.concat([head, inside]);
}

export function longs(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32LE(value >>> 0, index * 4);
  });
  return bytes;
}

/** PowerPoint 97: the document is part 1, the others are numbered from 2. `token` says whether it is encrypted. */
export function pptOf(document: Buffer, parts: readonly Buffer[], token = 0xe391_c05f): Buffer {
  const all = [document, ...parts];
  const offsets = all.map((_, index) => Buffer.concat(all.slice(0, index)).length);
  const content = Buffer.concat(all);
  const list = pptRecord(0x1772, longs((all.length << 20) | 1, ...offsets));
  const edit = pptRecord(0x0ff5, longs(0, 0, 0, content.length, 1, 0, 0));
  const stream = Buffer.concat([content, list, edit]);
  return compoundFile({
    'PowerPoint Document': stream,
    'Current User': Buffer.concat([longs(0, 0, 0x14, token), longs(content.length + list.length)]),
  });
}
