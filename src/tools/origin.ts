/**
 * Where a text came from, which decides how far to trust it. `user`: written here, by a person or their model.
 * Everything else is information, never instructions, and clients can fence it: `file`, an added document; `web`, a
 * page or search result; `upstream`, another service such as Fess.
 */
export type Origin = 'user' | 'file' | 'web' | 'upstream';

const origins: ReadonlySet<unknown> = new Set<Origin>(['user', 'file', 'web', 'upstream']);

/** The answer's field; omitted for the user's own text. */
export function originField(origin: Origin): { origin?: Origin } {
  return origin === 'user' ? {} : { origin };
}

/** A text compiled from pages lists them as sources. */
export function originOfSources(addresses: readonly unknown[], otherwise: Origin): Origin {
  return addresses.some(isWebAddress) ? 'web' : otherwise;
}

/** As declared by the writer, else inferred from a URL in the usual metadata fields. */
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
