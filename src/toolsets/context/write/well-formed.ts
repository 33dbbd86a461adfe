import { CarrelError } from '../../../base/errors.ts';

/**
 * Refuses half of a surrogate pair, in a text or anywhere in JSON: no database keeps one, other JSON parsers reject its
 * escape, and what is stored must be what was sent.
 */
export function checkWellFormed(name: string, value: unknown): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.isWellFormed() && (typeof value === 'string' || !halfEscaped.test(text))) return;
  throw new CarrelError(
    'invalid_arguments',
    `${name} has half of a surrogate pair (U+D800 to U+DFFF), which is no character; leave it out`,
  );
}

/** As JSON.stringify writes it, behind an even number of backslashes: else it is the text of an escape. */
const halfEscaped = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;
