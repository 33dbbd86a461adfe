import { CarrelError } from '../../base/errors.ts';

/** A folder of a compound file ([MS-CFB]), the container format of older office programs. */
export interface OleFolder {
  /** Names of its streams, in file order. */
  readonly streams: readonly string[];
  readonly folders: readonly string[];
  /** Reads a stream. Its name is case-insensitive. Undefined if it does not exist. */
  read(name: string): Buffer | undefined;
  folder(name: string): OleFolder | undefined;
}

interface Entry {
  readonly name: string;
  readonly kind: number;
  readonly left: number;
  readonly right: number;
  readonly child: number;
  readonly start: number;
  readonly size: number;
}

const entryBytes = 128;
const noStream = 0xffff_ffff;
const [folderKind, streamKind] = [1, 2];
/** Max bytes read in all, as a multiple of the file's size. Streams may share sectors, so it can exceed 1. */
const readFactorMax = 4;
const folderDepthMax = 16;

/** Opens a compound file. Throws if a chain has more sectors than the file, because it must be a cycle. */
export function openCompoundFile(bytes: Uint8Array): OleFolder {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (file.length < 512 || file.readUInt32BE(0) !== 0xd0cf11e0) throw damagedOle();
  const [sectorShift, miniShift] = [file.readUInt16LE(30), file.readUInt16LE(32)];
  if (![9, 12].includes(sectorShift) || miniShift !== 6) throw damagedOle();
  const sectorBytes = 1 << sectorShift;
  // The header takes up one sector, before sector 0.
  const sectorsMax = Math.ceil(file.length / sectorBytes);
  const sector = (index: number) => file.subarray((index + 1) * sectorBytes, (index + 2) * sectorBytes);
  let bytesLeft = file.length * readFactorMax + 1024 * 1024;

  const table = readTable(fatSectors());
  const entries = readEntries(chain(table, file.readUInt32LE(48), sector));
  // Limits visits, because folders of a malicious file may share entries.
  let visitsLeft = entries.length * readFactorMax + 1000;
  const miniStreamCutoff = file.readUInt32LE(56);
  const miniTable = readTable(chain(table, file.readUInt32LE(60), sector));
  const root = entries[0];
  if (root === undefined) throw damagedOle();
  const miniStream = Buffer.concat(chain(table, root.start, sector));
  const miniSector = (index: number) => miniStream.subarray(index * 64, (index + 1) * 64);
  return openFolder(root, 0);

  function openFolder({ child }: Entry, depth: number): OleFolder {
    const children = depth > folderDepthMax ? [] : childrenOf(child);
    const byName = new Map<string, Entry>();
    const keyOf = (name: string, kind: number): string => `${kind} ${name.toLowerCase()}`;
    // If a name repeats, the first entry counts.
    for (const entry of children.toReversed()) byName.set(keyOf(entry.name, entry.kind), entry);
    const find = (name: string, kind: number) => byName.get(keyOf(name, kind));
    return {
      streams: children.filter(({ kind }) => kind === streamKind).map(({ name }) => name),
      folders: children.filter(({ kind }) => kind === folderKind).map(({ name }) => name),
      read(name) {
        const entry = find(name, streamKind);
        return entry && readStream(entry);
      },
      folder(name) {
        const entry = find(name, folderKind);
        return entry && openFolder(entry, depth + 1);
      },
    };
  }

  /** Lists the entries of a folder. They form a search tree; some programs don't sort it, so all of it is walked. */
  function childrenOf(first: number): Entry[] {
    const seen = new Set<number>();
    const stack = [first];
    const children: Entry[] = [];
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      const entry = entries[index];
      if (index === noStream || entry === undefined || seen.has(index)) continue;
      visitsLeft -= 1;
      if (visitsLeft < 0) throw damagedOle();
      seen.add(index);
      children.push(entry);
      stack.push(entry.right, entry.left);
    }
    return children;
  }

  function readStream({ start, size }: Entry): Buffer {
    const sectors =
      size < miniStreamCutoff
        ? chain(miniTable, start, miniSector, miniStream.length / 64 + 1)
        : chain(table, start, sector);
    return Buffer.concat(sectors).subarray(0, size);
  }

  function chain(
    links: Uint32Array,
    start: number,
    sectorAt: (index: number) => Buffer,
    stepsMax = sectorsMax,
  ): Buffer[] {
    const sectors: Buffer[] = [];
    for (let index = start; index < links.length; index = links[index] ?? noStream) {
      if (sectors.length > stepsMax) throw damagedOle();
      const content = sectorAt(index);
      bytesLeft -= content.length;
      if (bytesLeft < 0) throw damagedOle();
      sectors.push(content);
    }
    return sectors;
  }

  /** Returns the sectors of the allocation table. The header lists 109 of them, a chain of sectors the others. */
  function fatSectors(): Buffer[] {
    const numbers: number[] = [];
    for (let index = 0; index < 109; index += 1) numbers.push(file.readUInt32LE(76 + index * 4));
    let next = file.readUInt32LE(68);
    for (let count = 0; next < sectorsMax && count <= sectorsMax; count += 1) {
      const sectorList = sector(next);
      for (let at = 0; at + 8 <= sectorList.length; at += 4) numbers.push(sectorList.readUInt32LE(at));
      next = sectorList.length < sectorBytes ? noStream : sectorList.readUInt32LE(sectorBytes - 4);
    }
    const valid = numbers.filter((number) => number < sectorsMax);
    if (valid.length > sectorsMax) throw damagedOle();
    return valid.map(sector);
  }
}

function readTable(sectors: readonly Buffer[]): Uint32Array {
  const joined = Buffer.concat(sectors);
  return Uint32Array.from({ length: joined.length >> 2 }, (_, index) => joined.readUInt32LE(index * 4));
}

function readEntries(sectors: readonly Buffer[]): Entry[] {
  const joined = Buffer.concat(sectors);
  const entries: Entry[] = [];
  for (let at = 0; at + entryBytes <= joined.length; at += entryBytes) {
    const nameBytes = Math.min(64, Math.max(2, joined.readUInt16LE(at + 64)));
    entries.push({
      name: joined.toString('utf16le', at, at + nameBytes - 2),
      kind: joined.readUInt8(at + 66),
      left: joined.readUInt32LE(at + 68),
      right: joined.readUInt32LE(at + 72),
      child: joined.readUInt32LE(at + 76),
      start: joined.readUInt32LE(at + 116),
      size: joined.readUInt32LE(at + 120),
    });
  }
  return entries;
}

export function damagedOle(cause?: unknown): CarrelError {
  return new CarrelError(
    'extraction_failed',
    'This document is damaged and cannot be read. Open it in an office program and save it again.',
    { cause },
  );
}
