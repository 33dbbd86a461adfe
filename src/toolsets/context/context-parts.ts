import type { Meaning } from '../../search/meaning/meaning.ts';
import type { Reranker } from '../../search/rerank/reranker.ts';
import type { Entry, EntryFilter } from '../../storage/entries/entry.ts';
import type { EntryStore } from '../../storage/entries/entry-store.ts';
import type { TextThread } from './search/text-thread.ts';
import type { EntrySummaries } from './write/entry-summaries.ts';
import type { WriteSettings } from './write/write-input.ts';

export type EntryMeaning = Meaning<EntryFilter>;

/** Dependencies of this toolset's tools. Each tool picks the ones it needs. */
export interface ContextParts {
  readonly entries: EntryStore;
  /** Undefined if semantic search is disabled. */
  readonly meaning: EntryMeaning | undefined;
  /** Undefined if summaries are disabled. */
  readonly summaries: EntrySummaries | undefined;
  /** Worker thread that highlights, excerpts and outlines long texts. */
  readonly texts: TextThread;
  readonly backend: 'sqlite' | 'postgresql';
  readonly writes: WriteSettings;
  /** Max characters of an entry shown in search results. */
  readonly truncationChars: number;
  readonly rrfK: number;
  readonly reranker: Reranker;
}

/** Dependencies of the writing tools. */
export type WriteParts = Pick<ContextParts, 'entries' | 'meaning' | 'summaries' | 'writes'>;

/** Starts the background work that follows a write: vectors and summaries. */
export function wakeBacklogs({ meaning, summaries }: Pick<ContextParts, 'meaning' | 'summaries'>): void {
  meaning?.wake();
  summaries?.wake();
}

/** Loads entries in the order of the ids. Missing entries are skipped. */
export async function loadEntries(
  entries: EntryStore,
  ids: readonly number[],
  { images, asOf }: { images: boolean; asOf?: string | undefined },
  signal: AbortSignal,
): Promise<Entry[]> {
  const byId = new Map((await entries.get({ ids, images, asOf }, { signal })).map((entry) => [entry.id, entry]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
