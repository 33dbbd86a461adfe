/** Collapses white space, line breaks included, to single spaces. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Decodes percent-encoding. Returns invalid text unchanged. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** True if the text has no visible character. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(text);
}

/** Counts code points without building an array, because the text may be long. */
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
