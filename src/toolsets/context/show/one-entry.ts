import { CarrelError } from '../../../base/errors.ts';
import type { Entry, EntryStore } from '../../../storage/contracts/entries.ts';

export async function oneEntry(entries: EntryStore, id: number, signal: AbortSignal, asOf?: string): Promise<Entry> {
  const [entry] = await entries.get({ ids: [id], images: false, asOf }, { signal });
  if (entry === undefined) {
    throw new CarrelError('entry_not_found', `Context entry with ID ${id} not found`, { data: { context_id: id } });
  }
  return entry;
}
