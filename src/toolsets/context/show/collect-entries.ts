import { wireBytes } from '../../../base/wire-bytes.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { Call } from '../../../tools/call.ts';

/** Bytes of entries that are read at a time; a page may have a hundred times as much. */
export const batchBytes = 4 * 1024 * 1024;

export interface Collected<Shown> {
  readonly shown: Shown[];
  /** Entries for which there was no room. */
  readonly omitted: number[];
}

export interface Collecting<Shown> {
  readonly images: boolean;
  readonly asOf?: string | undefined;
  /** Only this much of each text is needed. */
  readonly textChars?: number | undefined;
  readonly order: 'given' | 'newest';
  /** Bytes that the answer has for entries. */
  readonly room: number;
  /** Whatever is longer than the bytes that are left is not shown. */
  show(entry: Entry, left: number): Shown | Promise<Shown>;
  /** A shorter form, for the first entry if it does not fit by itself. */
  shorten(shown: Shown, entry: Entry, room: number): Shown;
}

/** The first part of a page, as it was read, and the ids of the others. */
export interface Begun {
  readonly entries: readonly Entry[];
  readonly rest: readonly number[];
}

/** Reads entries a few at a time and shows them, as long as there is room in the answer. */
export async function collectEntries<Shown>(
  entries: EntryStore,
  given: readonly number[] | Begun,
  { images, asOf, textChars, order, room, show, shorten }: Collecting<Shown>,
  { signal }: Pick<Call, 'signal'>,
): Promise<Collected<Shown>> {
  const shown: Shown[] = [];
  let used = 0;
  let batch: Begun = 'rest' in given ? given : { entries: [], rest: given };
  for (;;) {
    for (const [index, entry] of batch.entries.entries()) {
      let next: Shown = await show(entry, room - used);
      let bytes = wireBytes(next, 2, room);
      if (shown.length === 0 && bytes > room) {
        next = shorten(next, entry, room);
        bytes = wireBytes(next, 2, room);
      }
      used += bytes;
      if (used > room) {
        const left = batch.entries.slice(index).map(({ id }) => id);
        return { shown, omitted: [...left, ...batch.rest] };
      }
      shown.push(next);
    }
    if (batch.rest.length === 0) return { shown, omitted: [] };
    batch = await entries.load({ ids: batch.rest, images, asOf, textChars, order, bytesMax: batchBytes }, { signal });
  }
}
