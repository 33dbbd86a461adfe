import { inspect } from 'node:util';
import { decodePercent } from './text.ts';

const mask = '[secret]';

/** Values of all secrets, to mask in log lines and messages. */
const secrets = new Set<string>();
/** Min characters of a value that is masked. Shorter ones would also match ordinary words in the log. */
const scrubbedCharsMin = 6;

/**
 * A value from a secret configuration field. It always prints, logs and serializes as a mask. Only `reveal` returns the
 * value.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    if (value.length >= scrubbedCharsMin) secrets.add(value);
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}

/** Masks known secrets, raw or URL-encoded, and anything in URLs that looks like one. */
export function scrubSecrets(text: string): string {
  let clean = text.includes('://') ? text.replace(login, `$1${mask}@`).replace(namedSecret, `$1${mask}`) : text;
  for (const value of secrets) {
    if (clean.includes(value)) clean = clean.replaceAll(value, mask);
    const encoded = encodeURIComponent(value);
    if (encoded !== value && clean.includes(encoded)) clean = clean.replaceAll(encoded, mask);
  }
  return clean;
}

/** Masks the login and query of a service address, which may hold secrets. The text need not be a valid URL. */
export function maskAddress(address: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(address)?.[0] ?? '';
  const afterScheme = address.slice(scheme.length);
  const query = afterScheme.search(/[?#]/);
  const hostAndPath = query === -1 ? afterScheme : afterScheme.slice(0, query);
  // A password may contain an unescaped `?` or `/`, so everything before the last @ is masked.
  const atSign = afterScheme.lastIndexOf('@');
  if (atSign > hostAndPath.length) return `${scheme}${mask}`;
  const visible = atSign === -1 ? hostAndPath : `${mask}@${hostAndPath.slice(atSign + 1)}`;
  return `${scheme}${visible}${query === -1 ? '' : `?${mask}`}`;
}

/** Registers the password and query values of an address as secrets. */
export function registerAddress(address: string): void {
  const url = URL.parse(address);
  if (url === null) return;
  const values = [url.password, ...url.searchParams.values()];
  for (const value of values)
    for (const spelling of [value, decodePercent(value)]) if (spelling !== '') new Secret(spelling);
}

/** User name and password in a URL. */
const login = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@"'<>]+@/gi;

/** A query value whose name marks it as a secret. */
const namedSecret =
  /([?&][\w.-]{0,30}(?:key|token|secret|passw(?:or)?d|pwd|auth|sig|signature|credential)[\w.-]{0,30}=)[^&#\s"'<>]+/gi;
