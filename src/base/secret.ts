import { inspect } from 'node:util';

const mask = '[secret]';

/** Raw values of every secret that was ever made, so that text which quotes one by accident can be cleaned. */
const known = new Set<string>();
/** Shorter values would blank out ordinary words in the log. */
const scrubbedCharsMin = 6;

/**
 * A value from a secret configuration field. It prints as a mask wherever it is formatted, logged or serialised;
 * `reveal` is the only way to the text.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    if (value.length >= scrubbedCharsMin) known.add(value);
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

/** Replaces any secret that the text quotes, as it is or URL-encoded, and what looks like one in the URLs in it. */
export function scrubSecrets(text: string): string {
  let clean = text.includes('://') ? text.replace(login, `$1${mask}@`).replace(namedSecret, `$1${mask}`) : text;
  for (const value of known) {
    if (clean.includes(value)) clean = clean.replaceAll(value, mask);
    const encoded = encodeURIComponent(value);
    if (encoded !== value && clean.includes(encoded)) clean = clean.replaceAll(encoded, mask);
  }
  return clean;
}

/** An address of a service without what may be a secret in it: login and query. Works on what is no URL, too. */
export function maskAddress(address: string): string {
  const start = /^[a-z][a-z0-9+.-]*:\/\//i.exec(address)?.[0] ?? '';
  const rest = address.slice(start.length);
  const query = rest.search(/[?#]/);
  const place = query === -1 ? rest : rest.slice(0, query);
  // A password may hold the mark of a query or of a host unescaped: nothing before the last @ is shown.
  const at = rest.lastIndexOf('@');
  if (at > place.length) return `${start}${mask}`;
  const shown = at === -1 ? place : `${mask}@${place.slice(at + 1)}`;
  return `${start}${shown}${query === -1 ? '' : `?${mask}`}`;
}

/** Makes the log and all messages leave out the password and the values of the query that an address holds. */
export function registerAddress(address: string): void {
  const url = URL.parse(address);
  if (url === null) return;
  const values = [url.password, ...url.searchParams.values()];
  for (const value of values) for (const spelling of [value, decoded(value)]) if (spelling !== '') new Secret(spelling);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** User name and password in a URL. */
const login = /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#@"'<>]+@/gi;

/** A value in a query whose name says what it is. */
const namedSecret =
  /([?&][\w.-]{0,30}(?:key|token|secret|passw(?:or)?d|pwd|auth|sig|signature|credential)[\w.-]{0,30}=)[^&#\s"'<>]+/gi;
