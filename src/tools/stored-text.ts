import type * as z from 'zod';
import { storingFault } from '../storage/storable.ts';

/** Refuses what no database keeps: what is stored must be what was sent. The listed schema stays as it is. */
export function storedText<Text extends z.ZodType<string>>(text: Text): Text {
  return text.refine((given) => storingFault(given) === undefined, {
    error: ({ input }) => storingFault(String(input)),
  });
}
