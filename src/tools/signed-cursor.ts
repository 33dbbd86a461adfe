import { CarrelError } from '../base/errors.ts';
import { isSigned, sign } from '../base/signing-key.ts';

export interface CursorPlace {
  readonly at: number;
  /** Further identification of the position: ids, or a text's hash. */
  readonly marks: readonly string[];
}

export interface CursorSigner {
  /** At most eight marks of letters, digits, `_` and `-`. */
  issue(at: number, marks?: readonly string[]): string;
  /** Returns the cursor's position; throws `invalid_cursor` unless `issue` created it. */
  read(cursor: string): CursorPlace;
}

const signatureBytes = 16;

/** Cursors that only the issuing list accepts. With a per-process key, a restart invalidates them. */
export function createCursorSigner(list: string): CursorSigner {
  const signed = (place: string): Buffer => sign(`cursor ${list}`, place).subarray(0, signatureBytes);
  return {
    issue(at, marks = []) {
      const place = [at, ...marks].join('.');
      return `${place}-${signed(place).toString('base64url')}`;
    },
    read(cursor) {
      const [, place = '', signature = ''] = /^(\d{1,15}(?:\.[\w-]{1,64}){0,8})-([\w-]{22})$/.exec(cursor) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const isOurs = isSigned(given, signed(place));
      // base64url's last character has unused bits; accept only our own spelling.
      if (!isOurs || given.toString('base64url') !== signature) {
        throw new CarrelError('invalid_cursor', 'This cursor was not issued by this list. Start again without one.');
      }
      const [at, ...marks] = place.split('.');
      return { at: Number(at), marks };
    },
  };
}

export const beginning: CursorPlace = { at: 0, marks: [] };

/** Rejects a cursor into another text, or one that has changed since. */
export function checkSameText(place: CursorPlace, marks: readonly string[]): void {
  if (place === beginning || place.marks.join('.') === marks.join('.')) return;
  throw new CarrelError(
    'content_changed',
    'The content has changed since this cursor was issued. Read it again from the start.',
  );
}
