import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { CarrelError } from '../../base/errors.ts';

/**
 * A backup is a tar archive, so that it can be opened without Carrel. Its last member contains the SHA-256 of all bytes before
 * it. Headers and padding have only one valid form, so every changed bit is detected.
 */
export interface ArchiveMember extends TarMember {
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

const checksumName = 'sha256';
const checksumBytes = 65;

/** Yields the bytes of an archive with these members, in order. */
export async function* writeArchive(members: AsyncIterable<ArchiveMember>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const hashed = (chunk: Uint8Array): Uint8Array => {
    hash.update(chunk);
    return chunk;
  };
  for await (const { name, size, content } of members) {
    yield hashed(tarHeader({ name, size }));
    let written = 0;
    for await (const chunk of content) {
      written += chunk.length;
      if (written > size) break;
      yield hashed(chunk);
    }
    if (written !== size) {
      throw new CarrelError('unavailable', `${name} changed while it was backed up. Back up again.`);
    }
    yield hashed(tarPadding(size));
  }
  yield tarHeader({ name: checksumName, size: checksumBytes });
  yield Buffer.from(`${hash.digest('hex')}\n`);
  yield tarPadding(checksumBytes);
  yield tarEnd;
}

/** Yields the members of an archive file. Damage may be detected only at the end, so don't trust any content before. */
export async function* readArchive(file: string): AsyncGenerator<ArchiveMember> {
  const bytes = createByteReader(file);
  try {
    for (;;) {
      const header = await bytes.read(blockBytes, false);
      const member = readTarHeader(header);
      if (member === undefined) throw damaged();
      if (member.name === checksumName) {
        await readEnd(bytes, member);
        return;
      }
      bytes.hash.update(header);
      const content = bytes.chunks(member.size);
      yield { ...member, content };
      for await (const _ of content);
      await readZeros(bytes, tarPadding(member.size), true);
    }
  } finally {
    bytes.close();
  }
}

/** Reads the content of a member that is expected to be small. */
export async function readContent({ size, content }: ArchiveMember, bytesMax: number): Promise<Buffer> {
  if (size > bytesMax) throw damaged();
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts);
}

export function damaged(cause?: unknown): CarrelError {
  return new CarrelError(
    'invalid_backup',
    'The file is not a Carrel backup, or it is damaged or truncated. Nothing was changed; use another backup.',
    { cause },
  );
}

async function readEnd(bytes: ByteReader, { size }: TarMember): Promise<void> {
  if (size !== checksumBytes) throw damaged();
  const expected = await bytes.read(checksumBytes, false);
  if (expected.toString('latin1') !== `${bytes.hash.digest('hex')}\n`) throw damaged();
  await readZeros(bytes, tarPadding(checksumBytes), false);
  await readZeros(bytes, tarEnd, false);
  if (!(await bytes.ended())) throw damaged();
}

async function readZeros(bytes: ByteReader, zeros: Buffer, isHashed: boolean): Promise<void> {
  if (!zeros.equals(await bytes.read(zeros.length, isHashed))) throw damaged();
}

interface ByteReader {
  readonly hash: Hash;
  read(size: number, isHashed: boolean): Promise<Buffer>;
  /** Returns the next bytes, and hashes them as they are read. A second iteration continues where the first one stopped. */
  chunks(size: number): AsyncIterable<Buffer>;
  ended(): Promise<boolean>;
  close(): void;
}

function createByteReader(file: string): ByteReader {
  const stream = createReadStream(file, { highWaterMark: 256 * 1024 });
  const source: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  const hash = createHash('sha256');
  let buffered: Buffer = Buffer.alloc(0);

  /** Reads more bytes if none are buffered. Returns false at the end of the file. */
  const fill = async (): Promise<boolean> => {
    while (buffered.length === 0) {
      const next = await source.next();
      if (next.done === true) return false;
      buffered = next.value;
    }
    return true;
  };
  const readUpTo = async (size: number): Promise<Buffer> => {
    if (!(await fill())) throw damaged();
    const chunk = buffered.subarray(0, size);
    buffered = buffered.subarray(chunk.length);
    return chunk;
  };
  return {
    hash,
    async read(size, isHashed) {
      const parts: Buffer[] = [];
      for (let left = size; left > 0; ) {
        const part = await readUpTo(left);
        parts.push(part);
        left -= part.length;
      }
      const bytes = Buffer.concat(parts);
      if (isHashed) hash.update(bytes);
      return bytes;
    },
    chunks(size) {
      let left = size;
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            if (left === 0) return { done: true, value: undefined };
            const value = await readUpTo(left);
            left -= value.length;
            hash.update(value);
            return { done: false, value };
          },
        }),
      };
    },
    ended: async () => !(await fill()),
    close: () => stream.destroy(),
  };
}

/** Size of a block in bytes. Headers and contents are padded to whole blocks. */
export const blockBytes = 512;

export interface TarMember {
  /** At most 100 ASCII characters. */
  readonly name: string;
  readonly size: number;
}

/** Returns a header in POSIX ustar format, with GNU tar's extension for 8 GiB and more. It depends on name and size only. */
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

/** Returns the zeros that fill the last block after `size` bytes of content. */
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
