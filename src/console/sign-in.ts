import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Who signed in with a token. In memory: a restart asks again. */
export interface SignIns {
  /** The `Set-Cookie` of a new one; a secure one is sent over TLS only. */
  open(isSecure: boolean): string;
  isOpen(request: IncomingMessage): boolean;
  /** The `Set-Cookie` that ends the request's own. */
  close(request: IncomingMessage): string;
}

const cookieName = 'carrel_console';
const lifeMs = 12 * 3_600_000;
const openMax = 1_000;
const attributes = 'Path=/; HttpOnly; SameSite=Strict';

export function createSignIns(clock: () => number = () => performance.now()): SignIns {
  const expiries = new Map<string, number>();
  return {
    open(isSecure) {
      const id = randomBytes(32).toString('base64url');
      const [oldest] = expiries.keys();
      if (expiries.size >= openMax && oldest !== undefined) expiries.delete(oldest);
      expiries.set(id, clock() + lifeMs);
      return `${cookieName}=${id}; ${attributes}${isSecure ? '; Secure' : ''}; Max-Age=${lifeMs / 1000}`;
    },
    isOpen(request) {
      const expiry = expiries.get(cookieOf(request) ?? '');
      return expiry !== undefined && expiry > clock();
    },
    close(request) {
      expiries.delete(cookieOf(request) ?? '');
      return `${cookieName}=; ${attributes}; Max-Age=0`;
    },
  };
}

function cookieOf({ headers: { cookie = '' } }: IncomingMessage): string | undefined {
  return new RegExp(`(?:^|; ?)${cookieName}=([A-Za-z0-9_-]{43})(?:;|$)`).exec(cookie)?.[1];
}
