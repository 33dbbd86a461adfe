import type * as z from 'zod';
import { storingFault } from '../storage/storable.ts';

/** Rejects text that a database would alter, such as NUL characters. The listed schema is unchanged. */
export function storedText<Text extends z.ZodType<string>>(text: Text): Text {
  return text.refine((value) => storingFault(value) === undefined, {
    error: ({ input }) => storingFault(String(input)),
  });
}
