import type { Engine, EngineCall } from '../../../engine/engine.ts';
import { splitTags } from '../inputs/collections.ts';

export interface Narrowing {
  readonly tags: readonly string[] | undefined;
  readonly type: string | undefined;
}

/** Why no document is there. */
export function noneLeft({ tags, type }: Narrowing): string {
  const { collection, tags: others } = splitTags(tags ?? []);
  const filters = { collection: collection !== null, tags: others.length > 0, type: type !== undefined };
  const used = Object.entries(filters).flatMap(([name, isUsed]) => (isUsed ? [name] : []));
  if (used.length === 0) return 'There are no documents yet; kb_jobs shows what is being read.';
  return `No document passes the filters (${used.join(', ')}). Leave some out; kb_list names the tags there are.`;
}

interface Searched extends Narrowing {
  readonly ftsOnly: boolean;
  readonly threshold: number | undefined;
}

/** Why a search shows nothing, and what to do. An engine that can't tell leaves it at that. */
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
  if (ftsOnly) return `Nothing in ${among} has any of these words. Try others, or search without fts_only.`;
  return `Nothing in ${among} fits this. Try other words.`;
}
