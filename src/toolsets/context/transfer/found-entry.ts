import { CarrelError, isCarrelError } from '../../../base/errors.ts';
import type { NewEntry } from '../../../storage/entries/entry.ts';
import { bounds, checkBound } from '../bounds.ts';
import { checkJson, checkText } from '../write/checked-text.ts';

/** What a file has in one place: an entry, or why there is none to be taken. */
export type FoundEntry =
  | {
      /** How a person finds it in the file. */
      readonly place: string;
      /** Where the file names entries by numbers. */
      readonly id?: number | undefined;
      readonly entry: NewEntry;
      /** The file tells no times, so that this one is only that of the import. */
      readonly hasNoTime?: boolean;
    }
  | { readonly place: string; readonly reason: string };

/** One entry that cannot be taken must not keep the others from it. */
export function foundEntry(
  place: string,
  read: () => NewEntry,
  more: { id?: number | undefined; hasNoTime?: boolean } = {},
): FoundEntry {
  try {
    const entry = read();
    check(entry);
    return { place, entry, ...more };
  } catch (error) {
    if (!isCarrelError(error) || error.kind !== 'input') throw error;
    return { place, reason: error.message };
  }
}

/** What comes from elsewhere has the bounds of what is stored here, and is kept as it is or not at all. */
function check({ threadId, text, metadata, summary, images }: NewEntry): void {
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
