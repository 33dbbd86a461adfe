import { CarrelError } from '../../base/errors.ts';

export interface ZipMember {
  /** As written in the archive. It may be any text, so never use it as a path. */
  name: string;
  isFolder: boolean;
  isEncrypted: boolean;
  /** Compression: 0 for none, 8 for deflate (APPNOTE 4.4.5). */
  method: number;
  crc: number;
  /** Offsets of its packed bytes in the archive. `end` is exclusive. */
  start: number;
  end: number;
}

/** Max length of the comment after the directory's end (APPNOTE 4.3.16). */
const commentBytesMax = 0xffff;
const endRecordBytes = 22;
const entryHeaderBytes = 46;
const localHeaderBytes = 30;

/** Reads the members from the archive's central directory (APPNOTE 6.3.10). Checks that each lies inside the file. */
export function readZipDirectory(bytes: Uint8Array, membersMax: number): ZipMember[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  const size = view.getUint32(end + 12, true);
  const declared = view.getUint32(end + 16, true);
  const { start, shift } = locateDirectory(view, end, size, declared);
  const members: ZipMember[] = [];
  for (let at = start; at + entryHeaderBytes <= end && view.getUint32(at, true) === 0x02014b50; ) {
    if (members.length >= membersMax) {
      const message = `This archive has more than ${membersMax} members, the limit. Split it into smaller ones.`;
      throw new CarrelError('extraction_too_complex', message, { data: { membersMax } });
    }
    const { member, next } = readEntry(bytes, view, at, shift);
    members.push(member);
    at = next;
  }
  const count = view.getUint16(end + 10, true);
  // The count 0xffff is a placeholder: a zip64 field has the real one.
  if (count !== 0xffff && members.length < count) throw damagedZip('the directory is truncated');
  assertNoOverlap(members);
  return members;
}

export function damagedZip(cause: unknown): CarrelError {
  const message = 'This file is damaged or truncated. Get it again from its source.';
  return new CarrelError('extraction_failed', message, { cause });
}

function findEnd(view: DataView): number {
  const first = Math.max(0, view.byteLength - endRecordBytes - commentBytesMax);
  for (let at = view.byteLength - endRecordBytes; at >= first; at -= 1) {
    if (view.getUint32(at, true) === 0x06054b50) return at;
  }
  throw damagedZip('no end of the directory');
}

/** Finds the directory. If bytes precede the archive (a self-extractor), `shift` must be added to all its offsets. */
function locateDirectory(
  view: DataView,
  end: number,
  size: number,
  declared: number,
): { start: number; shift: number } {
  if (size !== 0xffffffff && declared !== 0xffffffff) {
    const start = end - size;
    if (start < declared) throw damagedZip('the directory lies outside the file');
    return { start, shift: start - declared };
  }
  const locator = end - 20;
  if (locator < 0 || view.getUint32(locator, true) !== 0x07064b50) throw damagedZip('no zip64 locator');
  const record = uint64At(view, locator + 8);
  if (record + 56 > view.byteLength || view.getUint32(record, true) !== 0x06064b50) throw damagedZip('no zip64 end');
  return { start: uint64At(view, record + 48), shift: 0 };
}

function readEntry(bytes: Uint8Array, view: DataView, at: number, shift: number): { member: ZipMember; next: number } {
  const flags = view.getUint16(at + 8, true);
  const method = view.getUint16(at + 10, true);
  const nameLength = view.getUint16(at + 28, true);
  const extraLength = view.getUint16(at + 30, true);
  const nameAt = at + entryHeaderBytes;
  const next = nameAt + nameLength + extraLength + view.getUint16(at + 32, true);
  if (next > view.byteLength) throw damagedZip('a directory entry is truncated');
  const name = decodeName(bytes.subarray(nameAt, nameAt + nameLength), (flags & 0x800) !== 0);
  const { packed, offset } = readSizes(view, at, nameAt + nameLength, extraLength);
  const local = offset + shift;
  if (local + localHeaderBytes > view.byteLength || view.getUint32(local, true) !== 0x04034b50) {
    throw damagedZip('a member lies outside the file');
  }
  const start = local + localHeaderBytes + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  const end = start + packed;
  if (end > view.byteLength) throw damagedZip('a member is truncated');
  return {
    member: {
      name,
      isFolder: name.endsWith('/'),
      // Bit 0: encrypted; method 99: WinZip's AES.
      isEncrypted: (flags & 1) !== 0 || method === 99,
      method,
      crc: view.getUint32(at + 16, true),
      start,
      end,
    },
    next,
  };
}

/**
 * Reads a member's packed size and offset. The value 0xffffffff is a placeholder: the zip64 field has the real one, in the order
 * unpacked size, packed size, offset (APPNOTE 4.5.3).
 */
function readSizes(view: DataView, at: number, extra: number, length: number): { packed: number; offset: number } {
  let packed = view.getUint32(at + 20, true);
  let offset = view.getUint32(at + 42, true);
  const unpackedIsWide = view.getUint32(at + 24, true) === 0xffffffff;
  if (packed !== 0xffffffff && offset !== 0xffffffff) return { packed, offset };
  for (let field = extra; field + 4 <= extra + length; field += 4 + view.getUint16(field + 2, true)) {
    if (view.getUint16(field, true) !== 1) continue;
    let value = field + 4 + (unpackedIsWide ? 8 : 0);
    if (packed === 0xffffffff) {
      packed = uint64At(view, value);
      value += 8;
    }
    if (offset === 0xffffffff) offset = uint64At(view, value);
    return { packed, offset };
  }
  throw damagedZip('no zip64 sizes');
}

function uint64At(view: DataView, at: number): number {
  if (at + 8 > view.byteLength) throw damagedZip('a zip64 field is truncated');
  return Number(view.getBigUint64(at, true));
}

/** Decodes a name. Without the UTF-8 flag it is in the packer's code page, but most are ASCII or UTF-8 anyway. */
function decodeName(bytes: Uint8Array, isUtf8: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder(isUtf8 ? 'utf-8' : 'ibm866').decode(bytes);
  }
}

function assertNoOverlap(members: readonly ZipMember[]): void {
  let end = 0;
  for (const member of members.toSorted((left, right) => left.start - right.start)) {
    if (member.start < end) {
      const message = 'This archive was refused because its members overlap. Pack it again as an ordinary zip file.';
      throw new CarrelError('extraction_too_complex', message);
    }
    end = member.end;
  }
}
