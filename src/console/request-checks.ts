import type { IncomingMessage } from 'node:http';

/** Paths for programs, where browsers get the plain error too. */
const programPaths = /^\/(?:health|metrics|\.well-known\/.*)$/;

/** Whether to answer with a "not found" page. Programs get a plain error instead. */
export function wantsPage({ method, headers }: IncomingMessage, path: string): boolean {
  return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '') && !programPaths.test(path);
}

/**
 * Rejects forms of other sites and requests that don't reveal their origin. `Sec-Fetch-Site` is preferred, because it is right
 * even behind a proxy that changes Host. Browsers that don't send it are checked by Origin.
 */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.parse(origin)?.host === host;
}

/** True if a link from another site or port led here. That site may have planted a cookie for a session of its own. */
export function isLedHere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'same-site' || site === 'cross-site';
}

/** True for a path on this server, false for a URL of another one. */
export function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])[!-~]*$/.test(text);
}

/** Whether the browser used TLS. Read from the form's Origin, because a proxy may terminate TLS. */
export function isOverTls({ headers: { origin = '' } }: IncomingMessage): boolean {
  return /^https:/i.test(origin);
}

/** The visitor's URL of this server. Based on headers that a proxy sets, so it is only shown to that visitor. */
export function originOf({ headers }: IncomingMessage): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${scheme}://${headers.host ?? ''}`;
}
