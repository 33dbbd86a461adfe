import { CarrelError } from '../../base/errors.ts';
import type { DocumentKind } from '../document.ts';
import { openZip, type Zip } from './zip.ts';

/** Members that say what an archive is are short; more of them is not read. */
const startBytesMax = 256 * 1024;

/** Which document an archive is, by the members that only this kind has; `zip` if it is just an archive. */
export function kindOfZip(bytes: Uint8Array): DocumentKind {
  const zip = openZip(bytes);
  const mimetype = startOf(zip, 'mimetype').trim();
  const declared = kindsOfMimetypes.get(mimetype.replace(/-template$/, ''));
  if (declared) return declared;
  if (mimetype.startsWith('application/vnd.oasis.opendocument.')) {
    throw refusal('This is an OpenDocument file without text that we read. Export it as PDF.');
  }
  const types = startOf(zip, '[Content_Types].xml');
  if (types !== '') {
    if (/(?:wordprocessingml\.|ms-word\.)[\w.]+\.main\+xml/.test(types)) return 'docx';
    if (/(?:presentationml\.|ms-powerpoint\.)[\w.]+\.main\+xml/.test(types)) return 'pptx';
    if (/(?:spreadsheetml\.|ms-excel\.)[\w.]+\.main\+xml/.test(types)) return 'xlsx';
    if (types.includes('ms-excel.sheet.binary')) {
      throw refusal('This is a binary Excel file (xlsb): save it as xlsx and try again.');
    }
  }
  // Drawings, models, Apple's Pages: their parts are files of an archive, but no documents of their own.
  if (types.includes('<Types') || zip.find('Index/Document.iwa')) {
    throw refusal('This is a file of a program whose format we do not read. Export it as PDF.');
  }
  return zip.find('META-INF/container.xml') ? 'epub' : 'zip';
}

const kindsOfMimetypes = new Map<string, DocumentKind>([
  ['application/epub+zip', 'epub'],
  ['application/vnd.oasis.opendocument.text', 'odt'],
  ['application/vnd.oasis.opendocument.text-master', 'odt'],
  ['application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['application/vnd.oasis.opendocument.presentation', 'odp'],
]);

function startOf(zip: Zip, name: string): string {
  const member = zip.find(name);
  // An archive that is encrypted as a whole is one for the reader of archives to refuse.
  if (!member || member.isEncrypted) return '';
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const part of zip.stream(member)) {
    parts.push(part);
    length += part.length;
    if (length > startBytesMax) break;
  }
  return Buffer.concat(parts).toString('utf8');
}

function refusal(message: string): CarrelError {
  return new CarrelError('unsupported_content_type', message);
}
