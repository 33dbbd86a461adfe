import { CarrelError } from '../../base/errors.ts';
import { type DocumentKind, needsPassword } from '../document.ts';
import { type OleFolder, openCompoundFile } from './compound-file.ts';

/** Returns the kind of a compound file, by its stream names. Throws if it is not supported. */
export function kindOfOle(bytes: Uint8Array): DocumentKind {
  const root = openCompoundFile(bytes);
  // A password-protected docx, pptx or xlsx is a compound file too ([MS-OFFCRYPTO] 2.3.4.4).
  if (hasStream(root, 'EncryptedPackage')) throw needsPassword();
  if (hasStream(root, 'WordDocument')) return 'doc';
  if (hasStream(root, 'Workbook') || hasStream(root, 'Book')) return 'xls';
  if (hasStream(root, 'PowerPoint Document')) return 'ppt';
  if (root.streams.some((name) => name.startsWith('__substg1.0_'))) return 'msg';
  throw unsupportedOffice('pdf');
}

/** First bytes of formats older than compound files (Word 1 and 2, Write, Excel 2 to 4), and the format to convert to. */
const oldStarts: readonly (readonly [string, string])[] = [
  ['\xdb\xa5', 'docx'],
  ['\x9b\xa5', 'docx'],
  ['\x31\xbe\0\0', 'docx'],
  ['\x09\0\x04\0', 'xlsx'],
  ['\x09\x02\x06\0', 'xlsx'],
  ['\x09\x04\x06\0', 'xlsx'],
];

/** Creates the error for a file of the oldest office programs. Undefined for any other file. */
export function oldOfficeError(start: string): CarrelError | undefined {
  const target = oldStarts.find(([magic]) => start.startsWith(magic))?.[1];
  return target === undefined ? undefined : unsupportedOffice(target);
}

function unsupportedOffice(target: string): CarrelError {
  return new CarrelError(
    'unsupported_content_type',
    'This file of an older office program is not supported. Convert it, for example with LibreOffice: ' +
      `soffice --headless --convert-to ${target} <file>.`,
  );
}

function hasStream(root: OleFolder, stream: string): boolean {
  return root.streams.some((name) => name.toLowerCase() === stream.toLowerCase());
}
