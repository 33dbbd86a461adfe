import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Issues cursors that nobody can forge and that work only for what they were issued for. */
export interface CursorSeal {
  /** `bound` names what the cursor belongs to and is not in it; `place` is. */
  close(bound: readonly string[], place: readonly (string | number)[]): string;
  /** The place; undefined for anything that was not made here for the same `bound`. */
  open(bound: readonly string[], cursor: string): (string | number)[] | undefined;
}

const signatureBytes = 16;

/** The key lives as long as the process, so cursors of another one, or of an earlier run, are stale. */
export function createCursorSeal(): CursorSeal {
  const key = randomBytes(32);
  const sign = (bound: readonly string[], payload: string): Buffer =>
    createHmac('sha256', key)
      .update(JSON.stringify([...bound, payload]))
      .digest()
      .subarray(0, signatureBytes);
  return {
    close(bound, place) {
      const payload = Buffer.from(JSON.stringify(place)).toString('base64url');
      return `${payload}~${sign(bound, payload).toString('base64url')}`;
    },
    open(bound, cursor) {
      const [, payload = '', signature = ''] = /^([\w-]{1,400})~([\w-]{22})$/.exec(cursor) ?? [];
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== signatureBytes || !timingSafeEqual(given, sign(bound, payload))) return undefined;
      // The last character of base64url has unused bits: only the spelling that was issued counts.
      if (given.toString('base64url') !== signature) return undefined;
      return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as (string | number)[];
    },
  };
}
