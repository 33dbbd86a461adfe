import type { BulkOutcome, BulkSelection, Engine, EngineCall } from '../../engine/engine.ts';

/** How many tags our engine accepts in one request. */
const batchMax = 60;

/**
 * Changes the tags of many documents when there may be more to remove than fits one request. The tags that select the
 * documents are removed last, together with the additions: without them the selection would be empty.
 */
export async function changeManyTags(
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
