import { CarrelError, isCarrelError } from '../base/errors.ts';
import { oneLine } from '../base/text.ts';
import { openZip, type Zip } from './archive/zip.ts';
import type { ZipMember } from './archive/zip-directory.ts';
import type { DocumentSource, ExtractedDocument, ExtractLimits, Mark, Member, Omission } from './document.ts';
import { cpuMs } from './reader-limits.ts';
import { cleanText } from './text/clean-text.ts';

/** A document inside an archive or email, unpacked on demand. */
export interface MemberSource {
  name: string;
  contentType?: string;
  bytes(): Uint8Array;
}

export interface MembersContext {
  mode: DocumentSource['mode'];
  limits: ExtractLimits;
  stopAt: number;
  /** Reads a member without opening anything inside it. */
  read(source: DocumentSource, limits: ExtractLimits): Promise<ExtractedDocument>;
}

type BodyText = Pick<ExtractedDocument, 'text' | 'marks' | 'truncated'>;

type Joined = BodyText & { members: Member[]; omitted: Omission[] };

const memberBytesMax = 32 * 1024 * 1024;
const omittedMax = 100;
/** Files that operating systems and Git add to archives. */
const systemFiles = /(?:^|\/)(?:__MACOSX\/|\.git\/|\.DS_Store$|Thumbs\.db$|desktop\.ini$)/i;

/** Lists the members of a zip archive. Each is unpacked when its `bytes()` is called. */
export function archiveMembers(bytes: Uint8Array): MemberSource[] {
  const zip = openZip(bytes, { membersMax: 5000, totalBytesMax: 128 * 1024 * 1024 });
  const files = zip.members.filter(({ name, isFolder }) => !isFolder && !systemFiles.test(name));
  return files.map((member) => ({ name: member.name, bytes: () => unpack(zip, member) }));
}

/**
 * Reads documents one after another and appends their texts to `body`, each under its name. Lists documents that can't be read
 * in `omitted`. Offsets refer to the joined text.
 */
export async function joinMembers(
  body: BodyText,
  sources: readonly MemberSource[],
  context: MembersContext,
): Promise<Joined> {
  const { limits, mode, stopAt } = context;
  const joined: Joined = { ...body, members: [], omitted: [] };
  const parts = [body.text].filter((text) => text !== '');
  const marks: Mark[] = [...body.marks];
  let length = body.text.length;
  for (const [index, { name, contentType, bytes }] of sources.entries()) {
    const label = labelOf(name);
    const heading = `${length > 0 ? '\n\n' : ''}${mode === 'markdown' ? '# ' : ''}${label}\n\n`;
    const charsLeft = limits.textCharsMax - length - heading.length;
    const cpuLeft = stopAt - cpuMs();
    if (charsLeft <= 0 || cpuLeft <= 0) {
      const reason = charsLeft <= 0 ? 'characters' : 'cpu_time';
      joined.truncated = { reason, read: index, of: sources.length, unit: 'files' };
      break;
    }
    try {
      const source: DocumentSource = { bytes: bytes(), filename: name, mode, extent: 'all' };
      if (contentType !== undefined) source.contentType = contentType;
      const document = await context.read(source, { ...limits, textCharsMax: charsLeft, softCpuMs: cpuLeft });
      if (document.text === '') continue;
      const headingStart = length + (length > 0 ? 2 : 0);
      const start = length + heading.length;
      parts.push(heading, document.text);
      length = start + document.text.length;
      // Ends the page and line marks of the previous member.
      if (marks.length > 0) marks.push({ offset: headingStart });
      if (document.marks[0]?.offset !== 0) marks.push({ offset: start });
      for (const mark of document.marks) marks.push({ ...mark, offset: start + mark.offset });
      const { kind, codeLanguage } = document;
      const language = codeLanguage === undefined ? {} : { codeLanguage };
      joined.members.push({ name: label, kind, ...language, headingStart, start, end: length });
      if (document.truncated) joined.truncated ??= document.truncated;
    } catch (error) {
      if (joined.omitted.length < omittedMax) joined.omitted.push(omission(label, error));
    }
  }
  return { ...joined, text: parts.join(''), marks };
}

/** Creates the error for an archive without readable members. It asks for a password if all of them need one. */
export function nothingReadable(omitted: readonly Omission[]): CarrelError {
  if (omitted.length > 0 && omitted.every(({ code }) => code === 'encrypted_document')) {
    return new CarrelError('encrypted_document', 'This archive needs a password. Pack it without one and try again.');
  }
  const message = 'This archive contains no readable document. Add a file of a supported kind.';
  return new CarrelError('no_text_in_document', message, { data: { omitted: omitted.length } });
}

/** Creates the error for an archive inside an archive or email. */
export function nestedArchive(): CarrelError {
  const message = 'An archive inside another is not opened. Unpack it and add its files.';
  return new CarrelError('unsupported_content_type', message);
}

function unpack(zip: Zip, member: ZipMember): Uint8Array {
  const bytes = zip.bytes(member, memberBytesMax);
  if (bytes.length <= memberBytesMax) return bytes;
  const message = `This file is larger than ${memberBytesMax} bytes, the limit for a file in an archive. Add it alone.`;
  throw new CarrelError('document_too_large', message);
}

function omission(name: string, error: unknown): Omission {
  if (isCarrelError(error)) return { name, code: error.code, message: error.message };
  return { name, code: 'extraction_failed', message: 'This file is damaged and cannot be read.' };
}

function labelOf(name: string): string {
  return oneLine(cleanText(name.slice(0, 1000))).slice(0, 300) || 'unnamed';
}
