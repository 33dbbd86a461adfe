import { oneLine } from '../../base/text.ts';

/**
 * Matches characters that control a terminal or the text direction. Untrusted text could use them to move the cursor, set the
 * title or inject input. None of them is needed for reading.
 */
const controlCharacters =
  /\p{Cc}|\p{Cs}|[\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const replacement = '\ufffd';

/** Replaces control characters in a text that may have several lines. */
export function printableText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(controlCharacters, (character) => (character === '\n' || character === '\t' ? character : replacement));
}

/** Replaces control characters and joins all lines into one. */
export function printableLine(text: string): string {
  return oneLine(printableText(text));
}

/** Formats JSON for a terminal, with control characters as escapes. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(controlCharacters, (character) =>
    character === '\n' ? character : escapeCharacter(character),
  );
}

function escapeCharacter(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
