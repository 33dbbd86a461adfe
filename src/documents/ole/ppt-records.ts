/** The record types that are read ([MS-PPT] 2.13.24). */
export const pptType = {
  notesLink: 0x03f1,
  slideReference: 0x03f3,
  slideList: 0x0ff0,
  textReference: 0x0f9e,
  textKind: 0x0f9f,
  name: 0x0fba,
  edit: 0x0ff5,
  offsets: 0x1772,
  comment: 0x2ee0,
} as const;

const [wideText, narrowText] = [0x0fa0, 0x0fa8];
/** Record type of later versions. It contains other records, although its header marks it as plain bytes. */
const extensionRecord = 0x138b;

/** A record. It contains bytes or other records. */
export interface PptRecord {
  readonly type: number;
  readonly instance: number;
  readonly data: Buffer;
  children(): Iterable<PptRecord>;
  /** Calls `visit` for all records in it, at any depth, in order. */
  walk(visit: (record: PptRecord) => void): void;
  /** Returns its text. Undefined if it is not a text record. */
  text(): string | undefined;
}

const headerBytes = 8;
const depthMax = 64;
const editsMax = 1000;

/** Finds the presentation as last saved, from the edit at offset `start`. Earlier saves remain in the file. */
export function findLastSaved(stream: Buffer, start: number) {
  const at = (offset: number) => recordAt(stream, offset, 0);
  const offsets = new Map<number, number>();
  let documentReference = 0;
  for (let offset = start, count = 0; count < editsMax; count += 1) {
    const edit = at(offset);
    if (edit?.type !== pptType.edit || edit.data.length < 20) break;
    if (count === 0) documentReference = edit.data.readUInt32LE(16);
    readOffsets(at(edit.data.readUInt32LE(12)), offsets);
    const previous = edit.data.readUInt32LE(8);
    // A previous save must come earlier in the file. Otherwise there would be a cycle.
    if (previous === 0 || previous >= offset) break;
    offset = previous;
  }
  const find = (reference: number): PptRecord | undefined => {
    const offset = offsets.get(reference);
    return offset === undefined ? undefined : at(offset);
  };
  const document = find(documentReference);
  return document && { document, find };
}

/** Reads the offsets of the numbered parts. Called for the last save first, so existing offsets stay. */
function readOffsets(list: PptRecord | undefined, offsets: Map<number, number>): void {
  if (list?.type !== pptType.offsets) return;
  for (let at = 0; at + 4 <= list.data.length; ) {
    const head = list.data.readUInt32LE(at);
    const [first, count] = [head & 0xf_ffff, head >>> 20];
    at += 4;
    for (let index = 0; index < count && at + 4 <= list.data.length; index += 1, at += 4) {
      if (!offsets.has(first + index)) offsets.set(first + index, list.data.readUInt32LE(at));
    }
  }
}

function recordAt(stream: Buffer, at: number, depth: number): PptRecord | undefined {
  if (at < 0 || at + headerBytes > stream.length || depth > depthMax) return undefined;
  const head = stream.readUInt16LE(at);
  const type = stream.readUInt16LE(at + 2);
  const isContainer = (head & 0x0f) === 0x0f || type === extensionRecord;
  const data = stream.subarray(at + headerBytes, at + headerBytes + stream.readUInt32LE(at + 4));
  const record: PptRecord = {
    type,
    instance: head >> 4,
    data,
    *children() {
      if (!isContainer) return;
      for (let offset = 0; ; ) {
        const child = recordAt(data, offset, depth + 1);
        if (child === undefined) return;
        yield child;
        offset += headerBytes + child.data.length;
      }
    },
    walk(visit) {
      for (const child of record.children()) {
        visit(child);
        child.walk(visit);
      }
    },
    text() {
      if (type === wideText) return data.toString('utf16le');
      return type === narrowText ? data.toString('latin1') : undefined;
    },
  };
  return record;
}
