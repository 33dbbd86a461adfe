import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Principal } from '../base/rights.ts';

/** Who signed in with a token. In memory: a restart asks again. */
export interface SignIns {
  /** The `Set-Cookie` of a new one; a secure one is sent over TLS only. */
  open(request: IncomingMessage, principal: Principal, isSecure: boolean): string;
  /** Who sent the request, if they have signed in. */
  find(request: IncomingMessage): Principal | undefined;
  /** The `Set-Cookie` that ends the request's own. */
  close(request: IncomingMessage): string;
}

const lifeMs = 12 * 3_600_000;
const openMax = 1_000;
const attributes = 'Path=/; HttpOnly; SameSite=Strict';

export function createSignIns(clock: () => number = () => performance.now()): SignIns {
  const signedIn = new Map<string, { principal: Principal; expiry: number }>();
  return {
    open(request, principal, isSecure) {
      const id = randomBytes(32).toString('base64url');
      const [oldest] = signedIn.keys();
      if (signedIn.size >= openMax && oldest !== undefined) signedIn.delete(oldest);
      signedIn.set(id, { principal, expiry: clock() + lifeMs });
      return `${nameOf(request)}=${id}; ${attributes}${isSecure ? '; Secure' : ''}; Max-Age=${lifeMs / 1000}`;
    },
    find(request) {
      const found = signedIn.get(cookieOf(request) ?? '');
      return found !== undefined && found.expiry > clock() ? found.principal : undefined;
    },
    close(request) {
      signedIn.delete(cookieOf(request) ?? '');
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
