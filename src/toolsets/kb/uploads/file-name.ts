import * as z from 'zod';

const bytesMax = 255;

/** Accepts a file name, not a path. The name is displayed, stored and sent on, and must mean the same everywhere. */
export const fileNameInput = z
  .string()
  .trim()
  .refine((name) => name !== '' && Buffer.byteLength(name) <= bytesMax, {
    error: `must have 1 to ${bytesMax} bytes in UTF-8`,
  })
  .refine((name) => !/[/\\]/.test(name) && name !== '.' && name !== '..', { error: 'must be a name, not a path' })
  .refine((name) => !/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u.test(name), {
    error: 'must not contain control characters',
  });
