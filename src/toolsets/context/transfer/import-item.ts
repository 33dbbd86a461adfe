import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import type { NewEntry } from '../../../storage/entries/entry.ts';
import { bounds, checkBound } from '../inputs.ts';
import { checkJson, checkText } from '../write/checked-text.ts';

/** An item of an imported file: an entry, or the reason why it can't be imported. */
export type ImportItem =
  | {
      /** Location in the file, for messages. */
      readonly place: string;
      /** Id in the file, if any. */
      readonly id?: number | undefined;
      readonly entry: NewEntry;
      /** True if the file has no times. Then createdAt is the import time, and duplicates are found without it. */
      readonly hasNoTime?: boolean;
    }
  | { readonly place: string; readonly reason: string };

/**
 * Reads and checks an entry. Returns the reason if it is invalid, because one invalid entry must not block the
 * others.
 */
export function readItem(
  place: string,
  read: () => NewEntry,
  options: { id?: number | undefined; hasNoTime?: boolean } = {},
): ImportItem {
  try {
    const entry = read();
    checkLimits(entry);
    return { place, entry, ...options };
  } catch (error) {
    if (!isCarrelError(error) || error.kind !== 'input') throw error;
    return { place, reason: error.message };
  }
}

/** Throws if an imported entry exceeds the limits of store_context. Imported entries are never shortened. */
function checkLimits({ threadId, text, metadata, summary, images }: NewEntry): void {
  if (threadId === '') throw unreadable('it has no thread');
  if (text === '') throw unreadable('it has no text');
  checkBound(bounds.thread, threadId.length);
  checkText('thread_id', threadId);
  checkBound(bounds.text, text.length);
  checkText('text', text);
  if (summary !== undefined) checkText('summary', summary);
  checkBound(bounds.images, images.length);
  for (const [index, image] of images.entries()) checkJson(`images[${index}].metadata`, image.metadata);
  if (metadata === undefined) return;
  checkJson('metadata', metadata, bounds.metadata);
  checkBound(bounds.metadataJson, JSON.stringify(metadata).length);
}

export function unreadable(reason: string): CarrelError {
  return new CarrelError('invalid_import', reason);
}
