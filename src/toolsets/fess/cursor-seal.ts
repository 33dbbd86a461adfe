import { isSigned, sign } from '../../base/signing-key.ts';

/** Issues cursors that can't be forged and are valid only in the context they were issued for. */
export interface CursorSeal {
  /** Creates a cursor that contains `position`. It is valid only with the same `bound`, which it does not contain. */
  close(bound: readonly string[], position: readonly (string | number)[]): string;
  /** Returns the position. Undefined if the cursor was not issued by this server for the same `bound`. */
  open(bound: readonly string[], cursor: string): (string | number)[] | undefined;
}

const signatureBytes = 16;

/** Creates the seal. Cursors of another process are valid only if both sign with the key of the same database. */
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
      // The last character of base64url has unused bits. Only the encoding that this server writes is valid.
      if (actual.toString('base64url') !== signature) return undefined;
      return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as (string | number)[];
    },
  };
}
