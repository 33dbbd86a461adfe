import { CarrelError } from '../base/errors.ts';
import { isSigned, sign } from '../base/signing-key.ts';

export interface CursorPlace {
  readonly at: number;
  /** What the place is known by besides: ids, or the hash of a text. */
  readonly marks: readonly string[];
}

export interface CursorSigner {
  /** Marks are of letters, digits, `_` and `-`, at most eight. */
  issue(at: number, marks?: readonly string[]): string;
  /** The place that the cursor stands for; throws `invalid_cursor` for anything that `issue` did not return. */
  read(cursor: string): CursorPlace;
}

const signatureBytes = 16;

/**
 * Cursors that only the list that issued them accepts. Where the key lives as long as the process, a list is read from its
 * beginning after a restart.
 */
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
      // The last character of base64url holds unused bits: only the spelling that we issue counts.
      if (!isOurs || given.toString('base64url') !== signature) {
        throw new CarrelError('invalid_cursor', 'This cursor was not issued by this list. Start again without one.');
      }
      const [at, ...marks] = place.split('.');
      return { at: Number(at), marks };
    },
  };
}

export const beginning: CursorPlace = { at: 0, marks: [] };

/** Refuses to read on where the parts would not belong together: in another text, or one that was changed since. */
export function checkSameText(place: CursorPlace, marks: readonly string[]): void {
  if (place === beginning || place.marks.join('.') === marks.join('.')) return;
  throw new CarrelError(
    'content_changed',
    'What the cursor belongs to has changed since. Read it again from the start.',
  );
}
