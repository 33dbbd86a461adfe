import type { BulkOutcome, BulkSelection, Engine, EngineCall } from '../../engine/engine.ts';

/** How many tags an engine of ours takes in one request. */
const batchMax = 60;

/**
 * Changes tags of many documents where more may have to be removed than one request takes. The tags by which the
 * documents are chosen go last, together with what is added: removed earlier, they would choose no longer.
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
