import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../base/bounded-map.ts';
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
/** Max open ones of one principal: who signs in more often ends their own, nobody else's. */
const ownMax = 20;
const attributes = 'Path=/; HttpOnly; SameSite=Strict';

export function createSignIns(clock: () => number = () => performance.now()): SignIns {
  const signedIn = new BoundedMap<string, { principal: Principal; expiry: number }>(openMax);
  // Nobody who has not seen it can plant one of this name.
  const mark = randomBytes(6).toString('hex');
  const name = (request: IncomingMessage): string => `carrel_${mark}${portOf(request)}`;

  /** Of two with the name, one was planted, perhaps under a longer path: neither counts. */
  const idIn = (request: IncomingMessage): string | undefined => {
    const pattern = new RegExp(`(?:^|; ?)(?:__Host-)?${name(request)}=([^;]*)`, 'g');
    const [first, ...others] = [...(request.headers.cookie ?? '').matchAll(pattern)];
    return others.length === 0 ? first?.[1] : undefined;
  };

  return {
    open(request, principal, isSecure) {
      const own = [...signedIn].filter(([, each]) => each.principal.identity === principal.identity);
      for (const [oldest] of own.slice(0, Math.max(0, own.length + 1 - ownMax))) signedIn.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      signedIn.set(id, { principal, expiry: clock() + lifeMs });
      return isSecure
        ? `__Host-${name(request)}=${id}; ${attributes}; Secure; Max-Age=${lifeMs / 1000}`
        : `${name(request)}=${id}; ${attributes}; Max-Age=${lifeMs / 1000}`;
    },
    find(request) {
      const found = signedIn.get(idIn(request) ?? '');
      return found !== undefined && found.expiry > clock() ? found.principal : undefined;
    },
    close(request) {
      signedIn.delete(idIn(request) ?? '');
      const isSecure = request.headers.cookie?.includes(`__Host-${name(request)}=`) === true;
      return `${isSecure ? '__Host-' : ''}${name(request)}=; ${attributes}${isSecure ? '; Secure' : ''}; Max-Age=0`;
    },
  };
}

/** Browsers send a cookie to every port of a host: with one name, two servers there would sign each other's visitors out. */
function portOf({ headers: { host = '' } }: IncomingMessage): string {
  return /:(\d{1,5})$/.exec(host)?.[1] ?? '';
}
