/** Collapses white space, line breaks included, to single spaces. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Counts code points without building an array: the text may be as long as a message. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length; index += 1) {
    if ((text.codePointAt(index) ?? 0) > 0xffff) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}
