import { CarrelError } from '../base/errors.ts';
import { isSigned, sign } from '../base/signing-key.ts';

export interface CursorSigner {
  issue(place: number): string;
  /** The position that the cursor stands for; throws `invalid_cursor` for anything that `issue` did not return. */
  read(cursor: string): number;
}

const signatureBytes = 16;

/**
 * Cursors that only the list that issued them accepts. Where the key lives as long as the process, a list is read from its
 * beginning after a restart.
 */
export function createCursorSigner(list: string): CursorSigner {
  const signed = (place: string): Buffer => sign(`cursor ${list}`, place).subarray(0, signatureBytes);
  return {
    issue: (place) => `${place}-${signed(String(place)).toString('base64url')}`,
    read(cursor) {
      const [, place = '', signature = ''] = /^(\d{1,15})-([\w-]{22})$/.exec(cursor) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const isOurs = isSigned(given, signed(place));
      // The last character of base64url holds unused bits: only the spelling that we issue counts.
      if (isOurs && given.toString('base64url') === signature) return Number(place);
      throw new CarrelError('invalid_cursor', 'This cursor was not issued by this list. Start again without one.');
    },
  };
}
