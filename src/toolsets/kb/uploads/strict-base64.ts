import { CarrelError } from '../../../base/errors.ts';

/**
 * The bytes that the text stands for, if it is base64 as RFC 4648 §4 has it: Node skips what it does not know, and
 * bytes would be lost without anybody noticing.
 */
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
