import type { Reading, ReadOptions } from '../document.ts';
import { type MailFile, type MailHeader, mailReading } from '../email.ts';
import { readHtml } from '../html/read-html.ts';
import { readRtf } from '../rtf/rtf.ts';
import { decodeCodePage } from '../rtf/rtf-charsets.ts';
import { type OleFolder, openCompoundFile } from './compound-file.ts';
import { fileTime } from './ole-summary.ts';
import { unpackRtf } from './unpack-rtf.ts';

/** Properties of messages, recipients and attachments, by number ([MS-OXPROPS]). */
const property = {
  subject: '0037',
  submitted: 0x0039_0040,
  recipientKind: 0x0c15_0003,
  senderName: '0C1A',
  senderAddress: '0C1F',
  senderMail: '5D01',
  delivered: 0x0e06_0040,
  body: '1000',
  packedRtf: '1009',
  html: '1013',
  name: '3001',
  address: '3003',
  content: '3701',
  shortFilename: '3704',
  filename: '3707',
  mediaType: '370E',
  mail: '39FE',
  internetCodePage: 0x3fde_0003,
  codePage: 0x3ffd_0003,
} as const;

const [toKind, ccKind] = [1, 2];
/** Bytes before the fixed-length properties of a message, of a nested message, and of a recipient or attachment. */
const messageHeaderBytes = 32;
const nestedHeaderBytes = 24;
const partHeaderBytes = 8;

/** Reads an Outlook message ([MS-OXMSG]) as an email. A nested message becomes an attachment with its text. */
export function readMsg(bytes: Uint8Array, options: ReadOptions): { reading: Reading; files: MailFile[] } {
  const root = openCompoundFile(bytes);
  const message = openProperties(root, messageHeaderBytes);
  return {
    reading: readMessage(message, options),
    files: partsOf(root, '__attach').flatMap((part) => toFiles(part, message.codePage, options)),
  };
}

interface Properties {
  readonly folder: OleFolder;
  readonly codePage: number;
  text(id: string): string;
  bytes(id: string): Buffer | undefined;
  number(tag: number): number | undefined;
  time(tag: number): string | undefined;
}

function openProperties(folder: OleFolder, headerBytes: number, outerCodePage = 1252): Properties {
  const fixed = folder.read('__properties_version1.0') ?? Buffer.alloc(0);
  const offsets = new Map<number, number>();
  for (let at = headerBytes; at + 16 <= fixed.length; at += 16) offsets.set(fixed.readUInt32LE(at), at + 8);
  const number = (tag: number) => {
    const at = offsets.get(tag);
    return at === undefined ? undefined : fixed.readUInt32LE(at);
  };
  const codePage = number(property.codePage) ?? number(property.internetCodePage) ?? outerCodePage;
  const stream = (id: string, type: string) => folder.read(`__substg1.0_${id}${type}`);
  return {
    folder,
    codePage,
    number,
    text(id) {
      const utf16 = stream(id, '001F');
      if (utf16 !== undefined) return utf16.toString('utf16le').replaceAll('\0', '').trim();
      const encoded = stream(id, '001E');
      return encoded === undefined ? '' : decodeCodePage(encoded, codePage).replaceAll('\0', '').trim();
    },
    bytes: (id) => stream(id, '0102'),
    time(tag) {
      const at = offsets.get(tag);
      return at === undefined ? undefined : fileTime(fixed, at);
    },
  };
}

function readMessage(message: Properties, options: ReadOptions): Reading {
  const recipients = partsOf(message.folder, '__recip').map((part) =>
    openProperties(part, partHeaderBytes, message.codePage),
  );
  const ofKind = (kind: number) =>
    recipients
      .filter((recipient) => (recipient.number(property.recipientKind) ?? toKind) === kind)
      .map((recipient) =>
        formatAddress(recipient.text(property.name), recipient.text(property.mail) || recipient.text(property.address)),
      )
      .filter((recipient) => recipient !== '');
  const address = message.text(property.senderMail) || message.text(property.senderAddress);
  const header: MailHeader = {
    from: formatAddress(message.text(property.senderName), address) || null,
    to: ofKind(toKind),
    cc: ofKind(ccKind),
    date: message.time(property.submitted) ?? message.time(property.delivered) ?? null,
    subject: message.text(property.subject) || null,
  };
  return mailReading(header, bodyOf(message, options));
}

/** Formats a name and address. Omits addresses without @: inside an organisation, they are directory paths. */
function formatAddress(name: string, address: string): string {
  const mail = address.includes('@') ? address : '';
  if (name === '' || name === mail) return mail;
  return mail === '' ? name : `${name} <${mail}>`;
}

function bodyOf(message: Properties, options: ReadOptions): string {
  const plainText = message.text(property.body).replaceAll('\r\n', '\n').trim();
  if (plainText !== '') return plainText;
  const bytes = message.bytes(property.html);
  const codePage = message.number(property.internetCodePage) ?? message.codePage;
  const html = bytes === undefined ? message.text(property.html) : decodeCodePage(bytes, codePage);
  if (html.trim() !== '') return readHtml(html, { mode: options.mode, charsMax: options.charsMax, extent: 'all' }).text;
  const packed = message.bytes(property.packedRtf);
  return packed === undefined ? '' : readRtf(unpackRtf(packed), options).text;
}

function toFiles(folder: OleFolder, codePage: number, options: ReadOptions): MailFile[] {
  const attachment = openProperties(folder, partHeaderBytes, codePage);
  const name =
    attachment.text(property.filename) || attachment.text(property.shortFilename) || attachment.text(property.name);
  const bytes = attachment.bytes(property.content);
  if (bytes !== undefined) {
    return [{ name: name || 'unnamed', contentType: attachment.text(property.mediaType), bytes }];
  }
  const inner = folder.folder(`__substg1.0_${property.content}000D`);
  if (inner?.streams.some((stream) => stream.startsWith('__substg1.0_')) !== true) return [];
  const { title, text } = readMessage(openProperties(inner, nestedHeaderBytes, codePage), options);
  return [{ name: `${title ?? (name || 'message')}.txt`, contentType: 'text/plain', bytes: Buffer.from(text) }];
}

function partsOf(folder: OleFolder, prefix: string): OleFolder[] {
  return folder.folders.filter((name) => name.startsWith(prefix)).flatMap((name) => folder.folder(name) ?? []);
}
