/**
 * About how many tokens a model pays for a text. Vocabularies differ by model, so this counts what they have in common:
 * short words and numbers cost one, longer words one for about every five letters, each symbol one, CJK one a character.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(/\p{Script=Han}|[\p{L}\p{M}]+|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}]+/gu)) {
    if (/^[\p{L}\p{M}]/u.test(piece)) tokens += Math.ceil(piece.length / 5);
    else if (/^\p{N}/u.test(piece)) tokens += 1;
    else tokens += Math.ceil(piece.length / 3);
  }
  return tokens;
}
