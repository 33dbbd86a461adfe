import { crc32, deflateRawSync } from 'node:zlib';

export interface RawMember {
  name: string;
  data: Uint8Array;
  /** Packed bytes that don't match `data`. */
  packed?: Uint8Array;
  /** The unpacked size in the directory. */
  declaredBytes?: number;
  flags?: number;
  method?: number;
  /** Refers to the bytes of the member with this number. */
  sharesWith?: number;
}

/** A zip archive exactly as specified, lies included. Members are deflated by default. */
export function rawZip(members: readonly RawMember[]): Buffer {
  const locals: Buffer[] = [];
  const offsets: number[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, data, packed, declaredBytes, flags = 0x800, method = 8, sharesWith } of members) {
    const body = packed ?? (method === 0 ? data : deflateRawSync(data));
    const title = Buffer.from(name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(crc32(data), 10);
    fields.writeUInt32LE(body.length, 14);
    fields.writeUInt32LE(declaredBytes ?? data.length, 18);
    fields.writeUInt16LE(title.length, 22);
    offsets.push(sharesWith === undefined ? offset : (offsets[sharesWith] ?? 0));
    if (sharesWith === undefined) {
      const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, title, body]);
      locals.push(local);
      offset += local.length;
    }
    const entry = Buffer.alloc(46);
    entry.write('PK\x01\x02', 0, 'latin1');
    fields.copy(entry, 6);
    entry.writeUInt32LE(offsets.at(-1) ?? 0, 42);
    entries.push(Buffer.concat([entry, title]));
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(members.length % 65_536, 8);
  end.writeUInt16LE(members.length % 65_536, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

/** A regular archive of texts or bytes. */
export function zipOf(members: Record<string, string | Uint8Array>): Buffer {
  return rawZip(Object.entries(members).map(([name, data]) => ({ name, data: Buffer.from(data) })));
}
