/**
 * Removes text that a model would read but a person would not see: control characters and invisible characters (zero-width and
 * bidirectional controls, tag characters, soft hyphens, fillers). Keeps those that a script needs:
 * - joiners inside emoji and between letters of joining scripts (Arabic, Persian, Indic);
 * - variation selectors after a symbol or Mongolian letter;
 * - fillers next to an Old Korean letter;
 * - tag characters inside a flag.
 */
export function cleanText(text: string): string {
  return text.replace(invisible, (match, offset: number) => {
    if (match.length > 2) return match;
    if (match === '\u200c' || match === '\u200d') return isJoiner(text, offset) ? match : '';
    if (match === '\ufe0e' || match === '\ufe0f') return symbolBefore.test(text.slice(offset - 2, offset)) ? match : '';
    if (/[\u180b-\u180d\u180f]/.test(match)) return mongolianBefore.test(text.slice(offset - 1, offset)) ? match : '';
    if (match === '\u115f') return vowelAfter.test(text.slice(offset + 1, offset + 2)) ? match : '';
    if (match === '\u1160') return consonantBefore.test(text.slice(Math.max(0, offset - 1), offset)) ? match : '';
    return '';
  });
}

/** Removes trailing spaces, leading empty lines, and all but one of several empty lines in a row. */
export function collapseLines(text: string): string {
  // Line by line, because the pattern `[ \t]+\n` takes quadratic time on a long run of spaces.
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trimEnd();
    if (trimmed !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(trimmed);
  }
  return lines.join('\n').trimEnd();
}

/** Matches invisible characters. The first alternative is a regional flag, which is kept: black flag, tag characters, end tag. */
const invisible =
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}|[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

const mongolianBefore = /[\u1820-\u18aa]/u;
/** In an Old Korean syllable, a filler stands for a missing consonant (before a vowel) or vowel (after a consonant). */
const vowelAfter = /[\u1161-\u11a7\ud7b0-\ud7c6]/u;
const consonantBefore = /[\u1100-\u115e\ua960-\ua97c]/u;
const symbolBefore = /[\p{Extended_Pictographic}\p{Sm}\p{So}0-9#*]$/u;
const joiningBefore = /(?:\p{L}|\p{M}|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const joiningAfter = /^(?:\p{L}|\p{M}|\p{Extended_Pictographic})/u;
/** Scripts that need no joiners. Between their letters, a joiner could only hide something. */
const neverJoins =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

function isJoiner(text: string, offset: number): boolean {
  const before = text.slice(Math.max(0, offset - 2), offset);
  const after = text.slice(offset + 1, offset + 3);
  return joiningBefore.test(before) && joiningAfter.test(after) && !neverJoins.test(before.slice(-1) + after);
}
