import type * as z from 'zod';
import { storingFault } from '../storage/storable.ts';

/** Rejects text that not every database can store, such as NUL characters. `tools/list` doesn't show this check. */
export function storedText<Text extends z.ZodType<string>>(text: Text): Text {
  return text.refine((value) => storingFault(value) === undefined, {
    error: ({ input }) => storingFault(String(input)),
  });
}
