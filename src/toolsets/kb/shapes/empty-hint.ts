import type { Engine, EngineCall } from '../../../engine/engine.ts';
import { splitTags } from '../inputs/collections.ts';

export interface Narrowing {
  readonly tags: readonly string[] | undefined;
  readonly type: string | undefined;
}

/** Explains why a list is empty. */
export function noneLeft({ tags, type }: Narrowing): string {
  const { collection, tags: others } = splitTags(tags ?? []);
  const filters = { collection: collection !== null, tags: others.length > 0, type: type !== undefined };
  const used = Object.entries(filters).flatMap(([name, isUsed]) => (isUsed ? [name] : []));
  if (used.length === 0) return 'There are no documents yet; kb_jobs shows running ingestions.';
  return `No document matches the filters (${used.join(', ')}). Leave some out; kb_list shows existing tags.`;
}

interface Searched extends Narrowing {
  readonly ftsOnly: boolean;
  readonly threshold: number | undefined;
}

/** Explains why a search found nothing. Undefined if the engine fails to count the documents. */
export async function nothingFound(
  engine: Pick<Engine, 'documents'>,
  { ftsOnly, threshold, ...narrowing }: Searched,
  options: EngineCall,
): Promise<string | undefined> {
  const searched = await engine.documents({ ...narrowing, limit: 1, offset: 0 }, options).catch(() => undefined);
  options.signal?.throwIfAborted();
  if (searched === undefined) return undefined;
  if (searched.total === 0) return noneLeft(narrowing);
  const among = searched.total === 1 ? 'the one document' : `${searched.total} documents`;
  if (threshold !== undefined && threshold > 0) {
    return `Nothing in ${among} reaches the threshold ${threshold}. Search without it.`;
  }
  if (ftsOnly) return `Nothing in ${among} contains any of these words. Try others, or search without fts_only.`;
  return `Nothing relevant in ${among}. Try other words.`;
}
