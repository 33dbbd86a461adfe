import { createHash } from 'node:crypto';
import * as z from 'zod';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Idempotency } from '../../storage/entries/entry.ts';
import { noteNotFound } from '../../storage/notes/note.ts';
import { storedText } from '../../tools/stored-text.ts';
import { noteId } from './notes.ts';

/** Repeated calls with the same key run once and return the same answer. */
export const idempotencyInput = { idempotency_key: storedText(z.string().min(1).max(256)).optional() };

/**
 * Returns the key of a call with a hash of its input. The input must be parsed: then its fields have a fixed order,
 * and equal calls have equal hashes.
 */
export function idempotencyOf(
  tool: string,
  { idempotency_key: key, ...rest }: { idempotency_key?: string | undefined },
): Idempotency | undefined {
  if (key === undefined) return undefined;
  const bodyHash = createHash('sha256')
    .update(`${tool} ${JSON.stringify(rest)}`)
    .digest('hex');
  return { key, bodyHash };
}

export function existingId(text: string): string {
  const id = noteId(text);
  if (id === undefined) throw noteNotFound(text);
  return id;
}

/**
 * Turns storage failures into `note_save_failed`, as the research server's specification demands. Our own code
 * becomes `details.reason`. Errors that the caller caused stay as they are.
 */
export async function writeNote<Answer>(done: string, writing: Promise<Answer>): Promise<Answer> {
  try {
    return await writing;
  } catch (error) {
    if (!isCarrelError(error) || ['input', 'not_found', 'cancelled'].includes(error.kind)) throw error;
    const { retryAfterSeconds: retryAfter } = error;
    throw new CarrelError('note_save_failed', `The note was not ${done}: ${error.message}`, {
      cause: error,
      data: { details: { reason: error.code, ...(retryAfter === undefined ? {} : { retryAfter }) } },
    });
  }
}
