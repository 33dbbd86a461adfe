import type { Reading } from '../document.ts';
import { decodeCodePage } from '../rtf/rtf-charsets.ts';
import type { OleFolder } from './compound-file.ts';

const [codePageId, titleId, authorId, createdId] = [1, 2, 4, 12];
const [textType, wideTextType, timeType] = [30, 31, 64];

/** Reads title, author and date from the property stream ([MS-OLEPS]). Ignores a damaged stream. */
export function readSummary(root: OleFolder): Pick<Reading, 'byline' | 'published'> & { title: string | null } {
  try {
    const properties = readProperties(root.read('\x05SummaryInformation') ?? Buffer.alloc(0));
    const text = (id: number) => properties.get(id)?.trim() || null;
    return { title: text(titleId), byline: text(authorId), published: text(createdId) };
  } catch {
    return { title: null, byline: null, published: null };
  }
}

function readProperties(stream: Buffer): Map<number, string> {
  const properties = new Map<number, string>();
  if (stream.length < 48) return properties;
  const section = stream.subarray(stream.readUInt32LE(44));
  const count = Math.min(section.readUInt32LE(4), 100);
  const offsets = new Map<number, number>();
  for (let index = 0; index < count; index += 1) {
    offsets.set(section.readUInt32LE(8 + index * 8), section.readUInt32LE(12 + index * 8));
  }
  const codePageAt = offsets.get(codePageId);
  const codePage = codePageAt === undefined ? 1252 : section.readUInt16LE(codePageAt + 4);
  for (const id of [titleId, authorId, createdId]) {
    const at = offsets.get(id);
    const value = at === undefined ? undefined : valueAt(section, at, codePage);
    if (value !== undefined) properties.set(id, value);
  }
  return properties;
}

function valueAt(section: Buffer, at: number, codePage: number): string | undefined {
  const type = section.readUInt16LE(at);
  if (type === timeType) return fileTime(section, at + 4);
  const length = section.readUInt32LE(at + 4);
  const content = section.subarray(at + 8, at + 8 + Math.min(length * (type === wideTextType ? 2 : 1), 4000));
  if (type === wideTextType || (type === textType && codePage === 1200)) return upToNull(content.toString('utf16le'));
  return type === textType ? upToNull(decodeCodePage(content, codePage)) : undefined;
}

const msFrom1601To1970 = 11_644_473_600_000;
/** Max time of a JavaScript date. */
const dateMsMax = 8_640_000_000_000_000;

/** Reads a time, stored as units of 100 ns since 1601. Returns it in ISO 8601. */
export function fileTime(bytes: Buffer, at: number): string | undefined {
  const ms = Number(bytes.readBigUInt64LE(at) / 10_000n) - msFrom1601To1970;
  return ms > 0 && ms < dateMsMax ? new Date(ms).toISOString() : undefined;
}

function upToNull(text: string): string {
  return text.split('\0', 1)[0] ?? '';
}
