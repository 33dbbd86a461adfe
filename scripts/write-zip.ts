import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  /** Path within the archive, with slashes. */
  readonly name: string;
  readonly content: { readonly file: string } | { readonly text: string };
}

/** Date of every entry: fixed, so that the same files give the same bytes. It is the earliest that the format allows. */
const date = 0x21;
const executable = 0o100_755;
const regularFile = 0o100_644;

/** Writes a zip archive, file by file. With `level` 0, files are not compressed. */
export function writeZip(file: string, entries: readonly ZipEntry[], level: number): void {
  const out = openSync(file, 'w');
  let offset = 0;
  const write = (bytes: Buffer): void => {
    writeSync(out, bytes);
    offset += bytes.length;
  };
  const directory = entries.map(({ name, content }) => {
    const isFile = 'file' in content;
    const bytes = isFile ? readFileSync(content.file) : Buffer.from(content.text);
    const mode = isFile && (statSync(content.file).mode & 0o100) !== 0 ? executable : regularFile;
    const packed = level === 0 ? bytes : deflateRawSync(bytes, { level });
    const start = offset;
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    // Flag: names are UTF-8.
    header.writeUInt16LE(0x0800, 2);
    header.writeUInt16LE(level === 0 ? 0 : 8, 4);
    header.writeUInt16LE(date, 8);
    header.writeUInt32LE(crc32(bytes), 10);
    header.writeUInt32LE(packed.length, 14);
    header.writeUInt32LE(bytes.length, 18);
    header.writeUInt16LE(Buffer.byteLength(name), 22);
    write(Buffer.concat([Buffer.from('PK\x03\x04'), header, Buffer.from(name)]));
    write(packed);
    const fileFields = Buffer.alloc(14);
    fileFields.writeUInt32LE(mode * 0x1_0000, 6);
    fileFields.writeUInt32LE(start, 10);
    // The byte 3 marks the archive as made on Unix, so that file modes are applied.
    return Buffer.concat([Buffer.from('PK\x01\x02\x14\x03'), header, fileFields, Buffer.from(name)]);
  });
  const start = offset;
  for (const entry of directory) write(entry);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(offset - start, 12);
  end.writeUInt32LE(start, 16);
  write(end);
  closeSync(out);
}
