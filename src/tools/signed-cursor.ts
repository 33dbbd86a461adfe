import { CarrelError } from '../base/errors.ts';
import { isSigned, sign } from '../base/signing-key.ts';

export interface CursorPosition {
  readonly at: number;
  /** Further identification of the position: ids of list members, or a text's hash. */
  readonly marks: readonly string[];
}

export interface CursorSigner {
  /** Creates a cursor. There may be at most eight marks, of letters, digits, `_` and `-`. */
  issue(at: number, marks?: readonly string[]): string;
  /** Returns the cursor's position; throws `invalid_cursor` unless `issue` created it. */
  read(cursor: string): CursorPosition;
}

const signatureBytes = 16;

/**
 * Creates a signer whose cursors are valid only in the same scope. If each process has its own key, a restart
 * invalidates them.
 */
export function createCursorSigner(scope: string): CursorSigner {
  const signatureOf = (position: string): Buffer => sign(`cursor ${scope}`, position).subarray(0, signatureBytes);
  return {
    issue(at, marks = []) {
      const position = [at, ...marks].join('.');
      return `${position}-${signatureOf(position).toString('base64url')}`;
    },
    read(cursor) {
      const [, position = '', signature = ''] = /^(\d{1,15}(?:\.[\w-]{1,64}){0,8})-([\w-]{22})$/.exec(cursor) ?? [];
      const actual = Buffer.from(signature, 'base64url');
      const isOurs = isSigned(actual, signatureOf(position));
      // The last character of base64url has unused bits, so accept only the spelling that `issue` writes.
      if (!isOurs || actual.toString('base64url') !== signature) {
        throw new CarrelError('invalid_cursor', 'This cursor is invalid here or has expired. Start again without one.');
      }
      const [at, ...marks] = position.split('.');
      return { at: Number(at), marks };
    },
  };
}

export const beginning: CursorPosition = { at: 0, marks: [] };

/** Throws if a cursor belongs to another text, or if the text has changed since. */
export function checkSameText(position: CursorPosition, marks: readonly string[]): void {
  if (position === beginning || position.marks.join('.') === marks.join('.')) return;
  throw new CarrelError(
    'content_changed',
    'The content has changed since this cursor was issued. Read it again from the start.',
  );
}
