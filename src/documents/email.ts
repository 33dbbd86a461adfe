import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime';
import { CarrelError } from '../base/errors.ts';
import { oneLine } from '../base/text.ts';
import type { ExtractMode, Reading } from './document.ts';
import { readHtml } from './html/read-html.ts';

/** An attachment. */
export interface MailFile {
  name: string;
  contentType: string;
  bytes: Uint8Array;
}

/** Max nesting of parts. Real emails have four or five levels. */
const nestingMax = 32;
const headerBytesMax = 2 * 1024 * 1024;
/** Max UTF-16 units of a header field. A message may have thousands of recipients. */
const fieldUnitsMax = 500_000;

/**
 * Reads an email (RFC 5322): sender, recipients, date, text and attachments. Uses the HTML version only if there is no plain
 * text. A nested message counts as an attachment.
 */
export async function readEmail(
  bytes: Uint8Array,
  mode: ExtractMode,
  charsMax: number,
): Promise<{ reading: Reading; files: MailFile[] }> {
  const mail = await parse(bytes);
  const header: MailHeader = {
    from: mail.from === undefined ? null : formatAddress(mail.from),
    to: (mail.to ?? []).map(formatAddress),
    cc: (mail.cc ?? []).map(formatAddress),
    date: mail.date ?? null,
    subject: mail.subject ?? null,
  };
  const text = untypedText(mail);
  if (text !== undefined) return { reading: mailReading(header, withUnixLines(text)), files: [] };
  return { reading: mailReading(header, bodyOf(mail, mode, charsMax)), files: mail.attachments.flatMap(toFiles) };
}

export interface MailHeader {
  from: string | null;
  to: readonly string[];
  cc: readonly string[];
  date: string | null;
  subject: string | null;
}

export function mailReading({ from, to, cc, date, subject }: MailHeader, body: string): Reading {
  const lines = [
    ['From', from ?? ''],
    ['To', to.join(', ')],
    ['Cc', cc.join(', ')],
    ['Date', date ?? ''],
    ['Subject', subject ?? ''],
  ].filter(([, value]) => value !== '');
  const header = lines.map(([name, value]) => `${name}: ${oneLine(value ?? '').slice(0, fieldUnitsMax)}`);
  return {
    title: subject,
    byline: from,
    published: date,
    text: [header.join('\n'), body].filter((part) => part !== '').join('\n\n'),
  };
}

/**
 * Splits a mailbox (RFC 4155) into messages. Each begins with a line `From sender date` that follows an empty line. Undefined
 * for a single message.
 */
export function splitMailbox(bytes: Uint8Array): Uint8Array[] | undefined {
  const box = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!box.subarray(0, 5).equals(separator)) return undefined;
  const starts = [0];
  for (let at = box.indexOf('\nFrom '); at !== -1 && starts.length < mailsMax; at = box.indexOf('\nFrom ', at + 1)) {
    const followsEmptyLine = box[at - 1] === 0x0a || (box[at - 1] === 0x0d && box[at - 2] === 0x0a);
    if (followsEmptyLine && messageStart.test(box.toString('latin1', at + 1, at + 500))) starts.push(at + 1);
  }
  if (starts.length < 2) return undefined;
  return starts.map((start, index) => {
    const end = starts[index + 1] ?? box.length;
    return box.subarray(box.indexOf(0x0a, start) + 1, end);
  });
}

const separator = Buffer.from('From ');
const mailsMax = 5000;
/** A separator line and the header field that must follow it. */
const messageStart = /^From [^\r\n]*\r?\n[\x21-\x39\x3b-\x7e]+:/;

/** Max lines that may begin a part. At each of them, the parser checks all earlier parts, which takes quadratic time. */
const partLinesMax = 20_000;

/** Counts the lines that may begin a part. Lines of only dashes, and the `-- ` above a signature, don't count. */
function countPartLines(bytes: Uint8Array): number {
  const mail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = mail.indexOf('\n--'); at !== -1 && count <= partLinesMax; at = mail.indexOf('\n--', at + 3)) {
    const next = mail[at + 3] ?? 0x20;
    if (next > 0x20 && next !== 0x2d) count += 1;
  }
  return count;
}

const splitAdvice = 'Save its text and attachments as separate files, and add those.';

async function parse(bytes: Uint8Array): Promise<Email> {
  if (countPartLines(bytes) > partLinesMax) {
    throw new CarrelError(
      'extraction_too_complex',
      `This email has more than ${partLinesMax} parts, the limit. ${splitAdvice}`,
    );
  }
  try {
    return await PostalMime.parse(bytes, {
      maxNestingDepth: nestingMax,
      maxHeadersSize: headerBytesMax,
      forceRfc822Attachments: true,
    });
  } catch (error) {
    const isTooComplex = error instanceof Error && /nesting|header size|headers? (?:too|exceed)/i.test(error.message);
    if (isTooComplex) {
      const message = `The parts of this email are nested too deep, or its headers are too long. ${splitAdvice}`;
      throw new CarrelError('extraction_too_complex', message, { cause: error });
    }
    const message = 'This email is damaged and cannot be read. Save it again from the mail program.';
    throw new CarrelError('extraction_failed', message, { cause: error });
  }
}

function bodyOf(mail: Email, mode: ExtractMode, charsMax: number): string {
  const plainText = withUnixLines(mail.text ?? '');
  if (plainText !== '' || mail.html === undefined) return plainText;
  return readHtml(mail.html, { mode, charsMax, extent: 'all' }).text;
}

function withUnixLines(text: string): string {
  return text.replaceAll('\r\n', '\n').trim();
}

/** Returns the text of an email whose type has no subtype. Such a type is invalid, so it is plain text (RFC 2045 §5.2). */
function untypedText({ attachments, text, html }: Email): string | undefined {
  const [attachment] = attachments;
  const isBody = text === undefined && html === undefined && attachments.length === 1;
  if (!isBody || attachment === undefined || attachment.mimeType.includes('/')) return undefined;
  return typeof attachment.content === 'string' ? attachment.content : new TextDecoder().decode(attachment.content);
}

/** Converts an attachment to a list of one file, or of none for an inline image. */
function toFiles({ filename, mimeType, content, related }: Attachment): MailFile[] {
  if (typeof content === 'string' || (related === true && mimeType.startsWith('image/'))) return [];
  const name = filename ?? (mimeType === 'message/rfc822' ? 'message.eml' : 'unnamed');
  return [{ name, contentType: mimeType, bytes: new Uint8Array(content) }];
}

function formatAddress(address: Address): string {
  if (address.group) return `${address.name}: ${address.group.map(formatAddress).join(', ')}`;
  if (!address.name) return address.address;
  return address.address ? `${address.name} <${address.address}>` : address.name;
}
