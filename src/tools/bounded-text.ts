import * as z from 'zod';

export interface TextBounds {
  /** Refuse blank text. */
  required?: boolean;
  max: number;
  /** Trim white space at both ends. */
  trim?: boolean;
}

/**
 * A string with bounds in characters as people and JSON Schema count them (code points). zod's own `max` counts UTF-16
 * units, and would refuse a title of 150 emoji that the schema allows.
 */
export function boundedText({ required = false, max, trim = false }: TextBounds) {
  const base = trim ? z.string().trim() : z.string();
  return base
    .refine((text) => !required || !isBlank(text), { error: 'must not be blank' })
    .refine((text) => text.length <= max || countCharacters(text) <= max, {
      error: ({ input }) => `must have at most ${max} characters, and has ${countCharacters(String(input))}`,
    })
    .meta({ ...(required ? { minLength: 1 } : {}), maxLength: max });
}

/** What is drawn as nothing is left out of answers. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(text);
}

/** Counted without making an array of them: the text may be as long as a message. */
function countCharacters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const next = text.charCodeAt(index + 1);
    if (code >= 0xd800 && code <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) index += 1;
    count += 1;
  }
  return count;
}
