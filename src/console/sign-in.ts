import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Who signed in with a token. In memory: a restart asks again. */
export interface SignIns {
  /** The `Set-Cookie` of a new one; a secure one is sent over TLS only. */
  open(request: IncomingMessage, isSecure: boolean): string;
  isOpen(request: IncomingMessage): boolean;
  /** The `Set-Cookie` that ends the request's own. */
  close(request: IncomingMessage): string;
}

const lifeMs = 12 * 3_600_000;
const openMax = 1_000;
const attributes = 'Path=/; HttpOnly; SameSite=Strict';

export function createSignIns(clock: () => number = () => performance.now()): SignIns {
  const expiries = new Map<string, number>();
  return {
    open(request, isSecure) {
      const id = randomBytes(32).toString('base64url');
      const [oldest] = expiries.keys();
      if (expiries.size >= openMax && oldest !== undefined) expiries.delete(oldest);
      expiries.set(id, clock() + lifeMs);
      return `${nameOf(request)}=${id}; ${attributes}${isSecure ? '; Secure' : ''}; Max-Age=${lifeMs / 1000}`;
    },
    isOpen(request) {
      const expiry = expiries.get(cookieOf(request) ?? '');
      return expiry !== undefined && expiry > clock();
    },
    close(request) {
      expiries.delete(cookieOf(request) ?? '');
      return `${nameOf(request)}=; ${attributes}; Max-Age=0`;
    },
  };
}

/** Browsers send a cookie to every port of a host: with one name, two servers there would sign each other's visitors out. */
function nameOf({ headers: { host = '' } }: IncomingMessage): string {
  return `carrel_console${/:(\d{1,5})$/.exec(host)?.[1] ?? ''}`;
}

function cookieOf(request: IncomingMessage): string | undefined {
  const { cookie = '' } = request.headers;
  return new RegExp(`(?:^|; ?)${nameOf(request)}=([A-Za-z0-9_-]{43})(?:;|$)`).exec(cookie)?.[1];
}
