import { isCarrelError } from '../../base/errors.ts';
import { isCollectionTag } from '../collection-tag.ts';
import type { BulkOutcome, BulkSelection, BulkTagChange, Engine, EngineCall } from '../engine.ts';

/** How many tags our engine accepts in one request. */
const batchMax = 60;

/** `ask` has the engine do it at once; one that cannot is told of every tag that there is. */
export async function replaceTags(
  engine: Pick<Engine, 'bulkTags' | 'tags'>,
  selection: BulkSelection,
  { add = [], remove = [], replaces }: BulkTagChange,
  { ask, ...options }: EngineCall & { ask: () => Promise<BulkOutcome> },
): Promise<BulkOutcome> {
  try {
    return await ask();
  } catch (error) {
    if (!isCarrelError(error) || error.code !== 'document_not_found') throw error;
  }
  const known = (await engine.tags(options)).map(({ tag }) => tag);
  const replaced = known.filter((tag) => isCollectionTag(tag) === (replaces === 'collections') && !add.includes(tag));
  return changeManyTags(engine, selection, { remove: [...new Set([...remove, ...replaced])], add }, options);
}

/**
 * Changes the tags of many documents when there may be more to remove than fits one request. The tags that select the
 * documents are removed last, together with the additions: without them the selection would be empty.
 */
async function changeManyTags(
  engine: Pick<Engine, 'bulkTags'>,
  selection: BulkSelection,
  change: { remove: readonly string[]; add: readonly string[] },
  options: EngineCall,
): Promise<BulkOutcome> {
  const choosing = change.remove.filter((tag) => selection.tags?.includes(tag));
  const others = change.remove.filter((tag) => !choosing.includes(tag));
  const room = batchMax - choosing.length;
  const last = [...others.slice(0, room), ...choosing];
  for (let start = room; start < others.length; start += batchMax) {
    await engine.bulkTags(selection, { remove: others.slice(start, start + batchMax) }, options);
  }
  return engine.bulkTags(selection, { remove: last, add: change.add }, options);
}
