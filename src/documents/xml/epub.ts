import { posix } from 'node:path';
import { CarrelError } from '../../base/errors.ts';
import { decodePercent } from '../../base/text.ts';
import { walkMember } from '../archive/walk-member.ts';
import { openZip, type Zip } from '../archive/zip.ts';
import { damagedZip } from '../archive/zip-directory.ts';
import { type Reading, type ReadOptions, truncatedParts } from '../document.ts';
import { readHtml } from '../html/read-html.ts';
import { cpuMs } from '../reader-limits.ts';
import { attributeOf } from './walk-xml.ts';

/** Reads an e-book: its chapters in the order of the spine (EPUB 3.3), or of the manifest if the spine is unusable. */
export function readEpub(bytes: Uint8Array, options: ReadOptions): Reading {
  const zip = openZip(bytes);
  assertReadable(zip);
  const book = readPackage(zip, findPackage(zip));
  const parts: string[] = [];
  let units = 0;
  let read = 0;
  for (const chapter of book.chapters) {
    if (units > options.charsMax || cpuMs() > options.stopAt) break;
    read += 1;
    const member = zip.find(chapter) ?? zip.find(decodePercent(chapter));
    if (!member) continue;
    // Read as HTML, not as XML: entities such as &nbsp; are common, and not all books are well-formed.
    const html = new TextDecoder().decode(zip.bytes(member));
    const { text } = readHtml(html, { mode: options.mode, charsMax: options.charsMax, extent: 'all' });
    if (text === '') continue;
    parts.push(text);
    units += text.length + 2;
  }
  return {
    title: book.fields.get('title') ?? null,
    byline: book.fields.get('creator') ?? null,
    language: book.fields.get('language') ?? null,
    published: book.fields.get('date') ?? null,
    text: parts.join('\n\n'),
    truncated: truncatedParts(read, book.chapters.length, 'chapters', units > options.charsMax),
  };
}

function findPackage(zip: Zip): string {
  let path: string | undefined;
  walkMember(zip, 'META-INF/container.xml', {
    open(name, attributes) {
      if (name === 'rootfile') path ??= attributes['full-path'];
    },
  });
  const found = path ?? zip.members.find(({ name }) => name.endsWith('.opf'))?.name;
  if (found === undefined) throw damagedZip('no package document');
  return found;
}

function readPackage(zip: Zip, path: string): { chapters: string[]; fields: Map<string, string> } {
  const folder = posix.dirname(path);
  const pages = new Map<string, string>();
  const spine: string[] = [];
  const fields = new Map<string, string>();
  let field = '';
  let inMetadata = false;
  const found = walkMember(zip, path, {
    open(name, attributes) {
      field = inMetadata ? name : '';
      if (name === 'metadata') inMetadata = true;
      else if (name === 'item' && isPage(attributes['media-type'])) {
        pages.set(attributes['id'] ?? '', posix.join(folder, attributes['href'] ?? ''));
      } else if (name === 'itemref') spine.push(attributes['idref'] ?? '');
    },
    close(name) {
      field = '';
      if (name === 'metadata') inMetadata = false;
    },
    text(text) {
      if (field !== '' && !fields.has(field) && text.trim() !== '') fields.set(field, text.trim());
    },
  });
  if (!found) throw damagedZip('no package document');
  const chapters = [...new Set(spine)].flatMap((id) => pages.get(id) ?? []);
  return { chapters: chapters.length > 0 ? chapters : [...pages.values()], fields };
}

function isPage(type = ''): boolean {
  return type === 'application/xhtml+xml' || type === 'text/html';
}

/** Throws if the book is copy-protected. Encrypted or obfuscated fonts don't count, because they hide no text. */
function assertReadable(zip: Zip): void {
  let isLocked = false;
  let algorithm = '';
  walkMember(zip, 'META-INF/encryption.xml', {
    open(name, attributes) {
      if (name === 'EncryptedData') algorithm = '';
      else if (name === 'EncryptionMethod') algorithm ||= attributeOf(attributes, 'Algorithm') ?? '';
      else if (name === 'CipherReference') {
        const isFont = /\.(?:ttf|otf|ttc|woff2?|eot|pfb)$/i.test(attributeOf(attributes, 'URI') ?? '');
        isLocked ||= !isFont && !obfuscation.test(algorithm);
      }
    },
  });
  if (isLocked) {
    const message = 'This book is copy-protected and cannot be read. Look for a version without protection.';
    throw new CarrelError('encrypted_document', message);
  }
}

/** The two kinds of font obfuscation (EPUB 3.3 §4.4, Adobe). */
const obfuscation = /idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC|obfuscation/i;
