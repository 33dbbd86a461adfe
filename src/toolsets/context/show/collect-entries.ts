import { wireBytes } from '../../../base/wire-bytes.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { Call } from '../../../tools/call.ts';

/** Max bytes of entries loaded at a time. A whole page may have a hundred times as many. */
export const batchBytes = 4 * 1024 * 1024;

export interface Collected<Shown> {
  readonly shown: Shown[];
  /** Ids of entries that did not fit. */
  readonly omitted: number[];
}

export interface Collecting<Shown> {
  readonly images: boolean;
  readonly asOf?: string | undefined;
  /** Max characters to load of each text. */
  readonly textChars?: number | undefined;
  readonly order: 'given' | 'newest';
  /** Max bytes of entries in the answer. */
  readonly bytesMax: number;
  /** Renders an entry. `left` is the number of bytes left in the answer. */
  show(entry: Entry, left: number): Shown | Promise<Shown>;
  /** Returns a shorter form of the first entry. Called if the whole entry does not fit into an answer. */
  shorten(shown: Shown, entry: Entry, bytesMax: number): Shown;
}

/** A page whose first entries are loaded, with the ids of the rest. */
export interface LoadedPage {
  readonly entries: readonly Entry[];
  readonly rest: readonly number[];
}

/** Loads and renders entries in batches while the answer has space. */
export async function collectEntries<Shown>(
  entries: EntryStore,
  source: readonly number[] | LoadedPage,
  { images, asOf, textChars, order, bytesMax, show, shorten }: Collecting<Shown>,
  { signal }: Pick<Call, 'signal'>,
): Promise<Collected<Shown>> {
  const shown: Shown[] = [];
  let used = 0;
  let batch: LoadedPage = 'rest' in source ? source : { entries: [], rest: source };
  for (;;) {
    for (const [index, entry] of batch.entries.entries()) {
      let next: Shown = await show(entry, bytesMax - used);
      let bytes = wireBytes(next, 2, bytesMax);
      if (shown.length === 0 && bytes > bytesMax) {
        next = shorten(next, entry, bytesMax);
        bytes = wireBytes(next, 2, bytesMax);
      }
      used += bytes;
      if (used > bytesMax) {
        const left = batch.entries.slice(index).map(({ id }) => id);
        return { shown, omitted: [...left, ...batch.rest] };
      }
      shown.push(next);
    }
    if (batch.rest.length === 0) return { shown, omitted: [] };
    batch = await entries.load({ ids: batch.rest, images, asOf, textChars, order, bytesMax: batchBytes }, { signal });
  }
}
