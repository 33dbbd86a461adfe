import type { IncomingMessage } from 'node:http';

/** Paths that are meant for programs. Browsers get a plain error there, too. */
const programPaths = /^\/(?:health|metrics|\.well-known\/.*)$/;

/** True if the answer should be a "not found" page. Programs get a plain error instead. */
export function wantsPage({ method, headers }: IncomingMessage, path: string): boolean {
  return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '') && !programPaths.test(path);
}

/**
 * False for forms of other sites and for requests without an origin. Checks `Sec-Fetch-Site` if the browser sends it, because it
 * is right even behind a proxy that changes Host. Otherwise checks Origin.
 */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.parse(origin)?.host === host;
}

/** True if the visitor followed a link from another site or port, which may have set a cookie for a session of its own. */
export function comesFromOtherSite({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'same-site' || site === 'cross-site';
}

/** True for a path on this server, false for a URL of another one. */
export function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])[!-~]*$/.test(text);
}

/** True if the browser used TLS. The Origin of the form says so even if a proxy terminates TLS. */
export function isOverTls({ headers: { origin = '' } }: IncomingMessage): boolean {
  return /^https:/i.test(origin);
}

/** Returns the URL at which the visitor reached this server. Clients can forge these headers, so only the visitor sees it. */
export function originOf({ headers }: IncomingMessage): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${scheme}://${headers.host ?? ''}`;
}
