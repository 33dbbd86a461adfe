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

/** Replaces any secret that the text quotes, as it is or URL-encoded. */
export function scrubSecrets(text: string): string {
  let clean = text;
  for (const value of known) {
    if (clean.includes(value)) clean = clean.replaceAll(value, mask);
    const encoded = encodeURIComponent(value);
    if (encoded !== value && clean.includes(encoded)) clean = clean.replaceAll(encoded, mask);
  }
  return clean;
}
