import { crc32 } from 'node:zlib';
import { Inflate } from 'fflate';
import { CarrelError } from '../../base/errors.ts';
import { needsPassword } from '../document.ts';
import { damagedZip, readZipDirectory, type ZipMember } from './zip-directory.ts';

export interface ZipLimits {
  membersMax: number;
  /** Max unpacked bytes over all reads. A member that is read twice counts twice. */
  totalBytesMax: number;
  /** Max unpacked bytes per packed byte, checked once a member has yielded `ratioFromBytes`. Deflate reaches 1032. */
  ratioMax: number;
  ratioFromBytes: number;
}

export interface Zip {
  readonly members: readonly ZipMember[];
  find(name: string): ZipMember | undefined;
  /** Yields the unpacked bytes in pieces, on demand. Throws if they are damaged. */
  stream(member: ZipMember): Generator<Uint8Array, void>;
  /** Unpacks a member. Stops early once it has more than `bytesMax` bytes. */
  bytes(member: ZipMember, bytesMax?: number): Buffer;
}

/** Default limits. An office document of 16 MB rarely unpacks to more than 100 MB, and its parts are streamed. */
const limitsDefault: ZipLimits = {
  membersMax: 20_000,
  totalBytesMax: 256 * 1024 * 1024,
  ratioMax: 400,
  ratioFromBytes: 8 * 1024 * 1024,
};

/** Packed bytes per inflater step. Limits the output of a step to about 8 MB. */
const stepBytes = 8 * 1024;

/**
 * Opens a zip archive in memory. Declared sizes are not trusted: the output is counted and limited, in bytes and relative to
 * the input. Members that share bytes are refused, because a small file could unpack to petabytes that way.
 */
export function openZip(bytes: Uint8Array, limits: Partial<ZipLimits> = {}): Zip {
  const { membersMax, totalBytesMax, ratioMax, ratioFromBytes } = { ...limitsDefault, ...limits };
  const members = readZipDirectory(bytes, membersMax);
  const byName = new Map<string, ZipMember>();
  for (const member of members) if (!byName.has(member.name)) byName.set(member.name, member);
  let total = 0;

  return { members, find: (name) => byName.get(name), stream, bytes: read };

  function* stream(member: ZipMember): Generator<Uint8Array, void> {
    if (member.isEncrypted) throw needsPassword('This');
    const packed = bytes.subarray(member.start, member.end);
    let length = 0;
    let sum = 0;
    for (const chunk of unpacked(packed, member.method)) {
      length += chunk.length;
      total += chunk.length;
      if (total > totalBytesMax || (length > ratioFromBytes && length > packed.length * ratioMax)) {
        const message =
          'This document was refused because it unpacks to far more than its size. Split it into smaller ones.';
        throw new CarrelError('extraction_too_complex', message);
      }
      sum = crc32(chunk, sum);
      yield chunk;
    }
    if (sum !== member.crc) throw damagedZip('a member does not match its checksum');
  }

  function read(member: ZipMember, bytesMax = Number.POSITIVE_INFINITY): Buffer {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for (const chunk of stream(member)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > bytesMax) break;
    }
    return Buffer.concat(chunks);
  }
}

function* unpacked(packed: Uint8Array, method: number): Generator<Uint8Array, void> {
  if (method === 0) {
    yield packed;
    return;
  }
  if (method !== 8) {
    const message = 'This archive uses an unsupported compression method. Pack it again as an ordinary zip file.';
    throw new CarrelError('unsupported_content_type', message, { data: { method } });
  }
  const ready: Uint8Array[] = [];
  const inflate = new Inflate((chunk) => ready.push(chunk));
  for (let at = 0; at < packed.length || at === 0; at += stepBytes) {
    try {
      inflate.push(packed.subarray(at, at + stepBytes), at + stepBytes >= packed.length);
    } catch (error) {
      throw damagedZip(error);
    }
    yield* ready.splice(0);
  }
}
