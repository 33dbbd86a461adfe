/** The text in one line: runs of white space become a space. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Code points, counted without making an array of them: the text may be as long as a message. */
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
