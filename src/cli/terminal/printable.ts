import { oneLine } from '../../base/text.ts';

/**
 * Text from documents, pages and other people may hold sequences that a terminal obeys: escapes that move the cursor, change
 * its title or type into it, and marks that show text in another order than it has. None of them is needed to read.
 */
const obeyed =
  /\p{Cc}|\p{Cs}|[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const replacement = '\ufffd';

/** Several lines, as they are, with nothing in them that a terminal would obey. */
export function printableText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(obeyed, (found) => (found === '\n' || found === '\t' ? found : replacement));
}

/** The same in one line. */
export function printableLine(text: string): string {
  return oneLine(printableText(text));
}

/** JSON for a terminal: the same value, with those characters as escapes. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(obeyed, (found) => (found === '\n' ? found : escaped(found)));
}

function escaped(found: string): string {
  const units = Array.from({ length: found.length }, (_, index) => found.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
