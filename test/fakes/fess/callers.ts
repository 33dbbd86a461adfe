import type { IncomingHttpHeaders } from 'node:http';

export interface FakeLabel {
  label: string;
  value: string;
  /** A caller needs one of these permissions to see the label. By default, guests see it. */
  permissions?: readonly string[];
}

export type Caller = { permissions: ReadonlySet<string> } | { refused: 'invalid_token' | 'invalid_request' };

const guest = ['Rguest', '1guest'];

/**
 * Identifies the caller by the `Authorization` header, which is a bare token or a bearer token; other schemes are rejected. If a
 * token has permissions, they replace those of a guest.
 */
export function identify(headers: IncomingHttpHeaders, tokens: Readonly<Record<string, readonly string[]>>): Caller {
  const header = headers.authorization;
  if (header === undefined) return { permissions: new Set(guest) };
  const parts = header.trim().split(/\s+/);
  const isBearer = parts.length === 2 && parts[0] === 'Bearer';
  const token = isBearer || parts.length === 1 ? parts.at(-1) : undefined;
  if (token === undefined) return { refused: 'invalid_request' };
  const permissions = tokens[token];
  if (permissions === undefined) return { refused: 'invalid_token' };
  return { permissions: new Set(permissions.length === 0 ? guest : permissions) };
}

const languages = new Set(['de', 'en', 'es', 'fr', 'id', 'it', 'ja', 'ko', 'pt', 'ru', 'zh']);

/** Returns the labels that a caller sees. A value that ends in `_<language>` is visible only to callers with that language. */
export function visibleLabels(
  labels: readonly FakeLabel[],
  permissions: ReadonlySet<string>,
  headers: IncomingHttpHeaders,
): { label: string; value: string }[] {
  const language = /^[a-z]{2}/.exec(headers['accept-language'] ?? 'en')?.[0];
  return labels
    .filter((label) => (label.permissions ?? guest).some((permission) => permissions.has(permission)))
    .filter(({ value }) => {
      const suffix = /_([a-z]{2})$/.exec(value)?.[1];
      return suffix === undefined || !languages.has(suffix) || suffix === language;
    })
    .map(({ label, value }) => ({ label, value }));
}
