import type { IncomingMessage, ServerResponse } from 'node:http';
import { isCarrelError } from '../base/errors.ts';
import { readBody } from '../http/body.ts';
import { parseForm } from '../http/form.ts';
import { respondJson, respondText } from '../http/respond.ts';
import { securityHeaders } from './assets.ts';

/** Paths that are meant for programs. Browsers get a plain error there, too. */
const programPaths = /^\/(?:health|metrics|\.well-known\/.*)$/;

/** True if the answer should be a "not found" page. Programs get a plain error instead. */
export function wantsPage({ method, headers }: IncomingMessage, path: string): boolean {
  return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '') && !programPaths.test(path);
}

/**
 * False for forms of other sites and for requests without an origin. Prefers `Sec-Fetch-Site`, because
 * comparing Origin with Host fails behind a proxy that changes Host.
 */
export function isOwnForm({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return origin !== undefined && URL.parse(origin)?.host === host;
}

/** True if the visitor followed a link from another site or port. That site may have planted the cookie of another session. */
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

/** Returns the URL at which the visitor reached this server. The visitor can forge the headers, so nobody else may see the URL. */
export function originOf({ headers }: IncomingMessage): string {
  const scheme = headers['x-forwarded-proto'] === 'https' ? 'https' : 'http';
  return `${scheme}://${headers.host ?? ''}`;
}

/** Reads a submitted form. If it is not a form or too large, answers the request with an error and returns undefined. */
export async function readForm(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): Promise<URLSearchParams | undefined> {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(request.headers['content-type'] ?? '');
  const body = isForm ? await readBody(request, bytesMax) : undefined;
  const form = body?.ok ? await parseForm(body.bytes) : undefined;
  if (form?.ok) return form.fields;
  const [status, problem] = body?.ok ? [413, form?.problem] : [body?.status, body?.problem];
  respondText(response, status ?? 415, problem ?? 'Send a form.', {
    ...securityHeaders,
    connection: 'close',
  });
  return undefined;
}

/** Answers a request of the console's own script, as JSON. */
export async function answerScript(work: Promise<Record<string, unknown>>, response: ServerResponse): Promise<void> {
  try {
    respondJson(response, 200, await work, securityHeaders);
  } catch (error) {
    const message = isCarrelError(error) ? error.message : 'Internal error.';
    respondJson(response, 400, { message }, securityHeaders);
  }
}
