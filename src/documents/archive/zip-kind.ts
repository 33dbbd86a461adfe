import { CarrelError } from '../../base/errors.ts';
import type { DocumentKind } from '../document.ts';
import { openZip, type Zip } from './zip.ts';

/** Max bytes read of a member that identifies the kind. Such members are short. */
const startBytesMax = 256 * 1024;

/** Returns the kind of document in a zip file, by members that only this kind has. `zip` is a plain archive. */
export function kindOfZip(bytes: Uint8Array): DocumentKind {
  const zip = openZip(bytes);
  const mimetype = startOf(zip, 'mimetype').trim();
  const declared = kindsOfMimetypes.get(mimetype.replace(/-template$/, ''));
  if (declared) return declared;
  if (mimetype.startsWith('application/vnd.oasis.opendocument.')) {
    throw unsupported('This kind of OpenDocument file is not supported. Export it as PDF.');
  }
  const types = startOf(zip, '[Content_Types].xml');
  if (types !== '') {
    if (/(?:wordprocessingml\.|ms-word\.)[\w.]+\.main\+xml/.test(types)) return 'docx';
    if (/(?:presentationml\.|ms-powerpoint\.)[\w.]+\.main\+xml/.test(types)) return 'pptx';
    if (/(?:spreadsheetml\.|ms-excel\.)[\w.]+\.main\+xml/.test(types)) return 'xlsx';
    if (types.includes('ms-excel.sheet.binary')) {
      throw unsupported('This is a binary Excel file (xlsb): save it as xlsx and try again.');
    }
  }
  // Unsupported formats that are zip files too: drawings, 3D models, Apple's Pages.
  if (types.includes('<Types') || zip.find('Index/Document.iwa')) {
    throw unsupported('This file format is not supported. Export it as PDF.');
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
  // Encryption is reported later, when the archive is read.
  if (!member || member.isEncrypted) return '';
  return zip.bytes(member, startBytesMax).toString('utf8');
}

function unsupported(message: string): CarrelError {
  return new CarrelError('unsupported_content_type', message);
}
