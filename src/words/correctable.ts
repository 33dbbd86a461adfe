/** Ordinary spelling: no digits, no capitals inside. */
const word = /^\p{L}[\p{Ll}\p{Lo}\p{M}]{2,}$/u;
/** Characters that may surround a word of a sentence. A dot, dash or slash would make it part of a name. */
const before = /^[\s(¿¡]$/u;
const after = /^[\s),;:!?.…]$/u;

/** True if a query word may be misspelt. Quoted words, code, digits and names in capitals are taken literally. */
export function isCorrectable(text: string, start: number, end: number): boolean {
  if (!word.test(text.slice(start, end))) return false;
  const [left, right, next] = [text[start - 1] ?? ' ', text[end] ?? ' ', text[end + 1] ?? ' '];
  if (!before.test(left) || !after.test(right) || (/[.:]/.test(right) && !/\s/.test(next))) return false;
  return !isQuoted(text.slice(0, start));
}

function isQuoted(head: string): boolean {
  const count = (sign: string) => head.split(sign).length - 1;
  return count('"') % 2 === 1 || count('`') % 2 === 1 || count('“') > count('”') || count('«') > count('»');
}
