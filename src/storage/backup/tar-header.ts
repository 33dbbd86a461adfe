/** Size of a block in bytes. Headers and contents are padded to whole blocks. */
export const blockBytes = 512;

export interface TarMember {
  /** At most 100 ASCII characters. */
  readonly name: string;
  readonly size: number;
}

/**
 * Returns the header of a plain file in a tar archive (POSIX ustar, with GNU tar's extension for 8 GiB and more). A name and
 * size always give the same header, so a reader can compare it byte for byte.
 */
export function tarHeader({ name, size }: TarMember): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(name, 0, 100, 'latin1');
  header.write('0000600\0', modeAt, 'latin1');
  header.write('0000000\0', 108, 'latin1');
  header.write('0000000\0', 116, 'latin1');
  writeSize(header, size);
  header.write('00000000000\0', 136, 'latin1');
  header.write('        ', checksumAt, 'latin1');
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, checksumAt, 'latin1');
  return header;
}

/** Parses a header. Returns undefined unless it is byte for byte the header that `tarHeader` would write. */
export function readTarHeader(header: Buffer): TarMember | undefined {
  const end = header.indexOf(0);
  const name = header.toString('latin1', 0, end === -1 || end > 100 ? 100 : end);
  const size = readSize(header);
  if (name === '' || size === undefined) return undefined;
  const member = { name, size };
  return tarHeader(member).equals(header) ? member : undefined;
}

/** Returns the zeros that fill the last block of a content of this size. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);
}

/** The two empty blocks that end an archive. */
export const tarEnd = Buffer.alloc(2 * blockBytes);

const modeAt = 100;
const sizeAt = 124;
const checksumAt = 148;
const octalMax = 0o77777777777;

function writeSize(header: Buffer, size: number): void {
  if (size <= octalMax) {
    header.write(`${size.toString(8).padStart(11, '0')}\0`, sizeAt, 'latin1');
    return;
  }
  header[sizeAt] = 0x80;
  header.writeBigUInt64BE(BigInt(size), sizeAt + 4);
}

function readSize(header: Buffer): number | undefined {
  if (header[sizeAt] === 0x80) {
    const size = header.readBigUInt64BE(sizeAt + 4);
    return size <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(size) : undefined;
  }
  const text = header.toString('latin1', sizeAt, sizeAt + 11);
  return /^[0-7]{11}$/.test(text) ? Number.parseInt(text, 8) : undefined;
}
