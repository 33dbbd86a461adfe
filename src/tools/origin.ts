/**
 * The origin of a text, which decides how far to trust it. `user`: written by the user or their model. `file`: an added
 * document. `web`: a page or search result. `upstream`: another service, such as Fess. Only `user` texts may be
 * instructions.
 */
export type Origin = 'user' | 'file' | 'web' | 'upstream';

const origins: ReadonlySet<unknown> = new Set<Origin>(['user', 'file', 'web', 'upstream']);

/** Returns the `origin` field of an answer, or no field for the user's own text. */
export function originField(origin: Origin): { origin?: Origin } {
  return origin === 'user' ? {} : { origin };
}

/** Returns `web` if any source is a web address: a text compiled from web pages lists them as its sources. */
export function originOfSources(addresses: readonly unknown[], otherwise: Origin): Origin {
  return addresses.some(isWebAddress) ? 'web' : otherwise;
}

/** Returns the origin that the metadata declares. Otherwise infers it from a URL in the usual fields. */
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
