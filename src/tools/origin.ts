/**
 * Where a text came from, and so how far it may be trusted. `user`: written here, by a person or a model that speaks for one.
 * Everything else is information from outside, never an instruction, and a client can fence it by this: `file`, a document that
 * somebody gave; `web`, a page or a search result; `upstream`, another service such as Fess.
 */
export type Origin = 'user' | 'file' | 'web' | 'upstream';

const origins: ReadonlySet<unknown> = new Set<Origin>(['user', 'file', 'web', 'upstream']);

/** As answers show it: the user's own goes without saying. */
export function originField(origin: Origin): { origin?: Origin } {
  return origin === 'user' ? {} : { origin };
}

/** A text that was made from pages names them. */
export function originOfSources(addresses: readonly unknown[], otherwise: Origin): Origin {
  return addresses.some(isWebAddress) ? 'web' : otherwise;
}

/** As the writer stated it, else by an address among the fields where people keep one. */
export function originOfMetadata(metadata: Readonly<Record<string, unknown>> | undefined): Origin {
  const { origin, url, source_url: sourceUrl, source_urls: sourceUrls } = metadata ?? {};
  if (isOrigin(origin)) return origin;
  return originOfSources([url, sourceUrl, ...(Array.isArray(sourceUrls) ? sourceUrls : [])], 'user');
}

function isOrigin(value: unknown): value is Origin {
  return origins.has(value);
}

function isWebAddress(value: unknown): boolean {
  return typeof value === 'string' && /^https?:\/\//i.test(value);
}
