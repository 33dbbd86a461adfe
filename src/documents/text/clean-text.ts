/**
 * Removes what a model would read but a person would not see: control characters and everything that Unicode draws as nothing
 * (zero-width and bidirectional controls, tag characters, soft hyphens, fillers). Keeps what writing needs: joiners inside
 * emoji and between letters of joining scripts (Arabic, Persian, Indic), variation selectors after a symbol or Mongolian
 * letter, fillers next to an Old Korean letter, tag characters inside a flag.
 */
export function cleanText(text: string): string {
  return text.replace(invisible, (match, offset: number) => {
    if (match.length > 2) return match;
    if (match === '\u200c' || match === '\u200d') return joins(text, offset) ? match : '';
    if (match === '\ufe0e' || match === '\ufe0f') return symbolBefore.test(text.slice(offset - 2, offset)) ? match : '';
    if (/[\u180b-\u180d\u180f]/.test(match)) return mongolianBefore.test(text.slice(offset - 1, offset)) ? match : '';
    if (match === '\u115f') return vowelAfter.test(text.slice(offset + 1, offset + 2)) ? match : '';
    if (match === '\u1160') return consonantBefore.test(text.slice(Math.max(0, offset - 1), offset)) ? match : '';
    return '';
  });
}

/** Removes trailing space, and keeps at most one empty line in a row. */
export function collapseLines(text: string): string {
  // By lines, not by pattern: `[ \t]+\n` takes quadratic time on a long run of spaces.
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    const trimmed = line.trimEnd();
    if (trimmed !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(trimmed);
  }
  return lines.join('\n').trimEnd();
}

/** The first alternative is a regional flag: a black flag, up to six tag characters, the end tag. */
const invisible =
  /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}|[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

const mongolianBefore = /[\u1820-\u18aa]/u;
/** A filler takes the place of a missing consonant or vowel in an Old Korean syllable. */
const vowelAfter = /[\u1161-\u11a7\ud7b0-\ud7c6]/u;
const consonantBefore = /[\u1100-\u115e\ua960-\ua97c]/u;
const symbolBefore = /[\p{Extended_Pictographic}\p{Sm}\p{So}0-9#*]$/u;
const joiningBefore = /(?:\p{L}|\p{M}|\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const joiningAfter = /^(?:\p{L}|\p{M}|\p{Extended_Pictographic})/u;
/** Latin, Greek, Cyrillic and CJK never join: a joiner between their letters only hides something. */
const neverJoins =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/u;

function joins(text: string, offset: number): boolean {
  const before = text.slice(Math.max(0, offset - 2), offset);
  const after = text.slice(offset + 1, offset + 3);
  return joiningBefore.test(before) && joiningAfter.test(after) && !neverJoins.test(before.slice(-1) + after);
}
