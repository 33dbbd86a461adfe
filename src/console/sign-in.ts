import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../base/bounded-map.ts';
import type { Principal } from '../base/rights.ts';

/**
 * Console sessions, opened with a token. In memory, so a restart asks again.
 *
 * Browsers send a cookie to every port of a host. Over TLS the cookie is `__Host-`, which no other port can read or plant
 * unless it has the certificate. Without TLS each session has a secret path, and its cookie is sent below that path only.
 */
export interface SignIns {
  /** The `Set-Cookie` of a new session, and the secret path of its pages (empty over TLS). */
  open(request: IncomingMessage, principal: Principal, isSecure: boolean): { cookie: string; base: string };
  /** The signed-in sender of the request. `base`: the session's path in the request. */
  find(request: IncomingMessage, base: string): Principal | undefined;
  /** The `Set-Cookie` that ends the request's own session. */
  close(request: IncomingMessage, base: string): string;
}

const lifeMs = 12 * 3_600_000;
const openMax = 1_000;
/** Max open sessions per principal; the oldest is closed. */
const ownMax = 20;
const attributes = 'HttpOnly; SameSite=Strict';

/** Splits the secret path of a session from the rest of a path. */
export function splitBase(path: string): { base: string; rest: string } {
  const [, base = '', rest = path] = /^(\/~[\w-]{22})(\/.*)$/.exec(path) ?? [];
  return { base, rest };
}

export function createSignIns(clock: () => number = () => performance.now()): SignIns {
  const sessions = new BoundedMap<string, { principal: Principal; base: string; expiry: number }>(openMax);
  // A random cookie name, so that others can't plant a cookie.
  const mark = randomBytes(6).toString('hex');
  const name = (request: IncomingMessage, base: string): string =>
    `${base === '' ? '__Host-' : ''}carrel_${mark}${portOf(request)}`;

  /** If there are two cookies with this name, one was planted, so neither is accepted. */
  const idIn = (request: IncomingMessage, base: string): string | undefined => {
    const pattern = new RegExp(`(?:^|; ?)${name(request, base)}=([^;]*)`, 'g');
    const [first, ...others] = [...(request.headers.cookie ?? '').matchAll(pattern)];
    return others.length === 0 ? first?.[1] : undefined;
  };

  return {
    open(request, principal, isSecure) {
      const own = [...sessions].filter(([, each]) => each.principal.identity === principal.identity);
      for (const [oldest] of own.slice(0, Math.max(0, own.length + 1 - ownMax))) sessions.delete(oldest);
      const id = randomBytes(32).toString('base64url');
      const base = isSecure ? '' : `/~${randomBytes(16).toString('base64url')}`;
      sessions.set(id, { principal, base, expiry: clock() + lifeMs });
      return { cookie: `${name(request, base)}=${id}; ${scope(base)}; Max-Age=${lifeMs / 1000}`, base };
    },
    find(request, base) {
      const found = sessions.get(idIn(request, base) ?? '');
      return found !== undefined && found.base === base && found.expiry > clock() ? found.principal : undefined;
    },
    close(request, base) {
      sessions.delete(idIn(request, base) ?? '');
      return `${name(request, base)}=; ${scope(base)}; Max-Age=0`;
    },
  };
}

function scope(base: string): string {
  return base === '' ? `Path=/; ${attributes}; Secure` : `Path=${base}; ${attributes}`;
}

/** Two servers on one host must not sign each other's visitors out. */
function portOf({ headers: { host = '' } }: IncomingMessage): string {
  return /:(\d{1,5})$/.exec(host)?.[1] ?? '';
}
