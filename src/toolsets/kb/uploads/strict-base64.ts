import { CarrelError } from '../../../base/errors.ts';

/** Decodes base64 strictly (RFC 4648 §4). Node skips invalid characters, so bytes could be lost silently. */
export function decodeBase64(text: string, argument: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length > 0 && bytes.toString('base64') === text) return bytes;
  const problem =
    text === ''
      ? 'must not be empty'
      : 'must be base64 (A–Z a–z 0–9 + / and = at the end to a multiple of four characters, no line breaks)';
  throw new CarrelError('invalid_arguments', `${argument} ${problem}.`, {
    data: { details: { faults: [{ field: argument, problem }] } },
  });
}
