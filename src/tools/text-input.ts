import * as z from 'zod';
import { countCharacters, isBlank } from '../base/text.ts';
import { unstorableReason } from '../storage/storable.ts';

interface TextBounds {
  /** Rejects blank text. */
  required?: boolean;
  max: number;
  /** Trims white space at both ends. */
  trim?: boolean;
}

/**
 * Creates a schema for a string whose length counts in characters (code points), as in JSON Schema. zod's `max`
 * counts UTF-16 units, so with a limit of 200 it would reject 150 emoji.
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

/** Rejects text that not every database can store, such as NUL characters. `tools/list` doesn't show this check. */
export function storedText<Text extends z.ZodType<string>>(text: Text): Text {
  return text.refine((value) => unstorableReason(value) === undefined, {
    error: ({ input }) => unstorableReason(String(input)),
  });
}
