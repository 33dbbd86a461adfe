import { CarrelError } from '../base/errors.ts';

/**
 * Why a file in the container format of older office programs ([MS-CFB]) is not read. The names of its streams, which are
 * stored in UTF-16, say which program wrote it.
 */
export function oleRefusal(bytes: Uint8Array): CarrelError {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const holds = (stream: string) => content.includes(Buffer.from(stream, 'utf16le'));
  // A password-protected document of any of the newer programs ([MS-OFFCRYPTO] 2.3.4.4).
  if (holds('EncryptedPackage')) {
    return new CarrelError('encrypted_document', 'This document needs a password. Save it without one and try again.');
  }
  const found = advice.find(([stream]) => holds(stream))?.[1] ?? 'Save it in a newer format, such as docx or PDF.';
  return new CarrelError('unsupported_content_type', `This is a file of an older office program. ${found}`);
}

const advice: readonly (readonly [string, string])[] = [
  ['__substg1.0_', 'It is an Outlook message (msg): save it as eml and try again.'],
  ['WordDocument', 'It is an old Word file (doc): save it as docx and try again.'],
  ['PowerPoint Document', 'It is an old PowerPoint file (ppt): save it as pptx and try again.'],
  ['Workbook', 'It is an old Excel file (xls): save it as xlsx and try again.'],
  ['Book', 'It is an old Excel file (xls): save it as xlsx and try again.'],
];
