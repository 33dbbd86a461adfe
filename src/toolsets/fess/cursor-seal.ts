import { isSigned, sign } from '../../base/signing-key.ts';

/** Issues cursors that can't be forged and work only where they were issued. */
export interface CursorSeal {
  /** Creates a cursor that contains `place`. It is valid only with the same `bound`, which it doesn't contain. */
  close(bound: readonly string[], position: readonly (string | number)[]): string;
  /** Returns the place; undefined unless the cursor was issued here for the same `bound`. */
  open(bound: readonly string[], cursor: string): (string | number)[] | undefined;
}

const signatureBytes = 16;

/** Cursors of another process or an earlier run are invalid, unless both sign with the key of the same database. */
export function createCursorSeal(): CursorSeal {
  const signed = (bound: readonly string[], payload: string): Buffer =>
    sign('fess cursor', JSON.stringify([...bound, payload])).subarray(0, signatureBytes);
  return {
    close(bound, position) {
      const payload = Buffer.from(JSON.stringify(position)).toString('base64url');
      return `${payload}~${signed(bound, payload).toString('base64url')}`;
    },
    open(bound, cursor) {
      const [, payload = '', signature = ''] = /^([\w-]{1,400})~([\w-]{22})$/.exec(cursor) ?? [];
      const actual = Buffer.from(signature, 'base64url');
      if (!isSigned(actual, signed(bound, payload))) return undefined;
      // base64url's last character has unused bits; accept only our own spelling.
      if (actual.toString('base64url') !== signature) return undefined;
      return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as (string | number)[];
    },
  };
}
