import * as z from 'zod';
import { collectionTag } from '../../../engine/collection-tag.ts';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bulkOutput, readSelection, selected, selectionInput, showBulk } from '../inputs/bulk-selection.ts';
import { collectionInput, readTags, tagListInput } from '../inputs/collections.ts';

export function createKbBulkSetTagsTool(engine: Pick<Engine, 'bulkSetTags' | 'bulkTags'>): Tool {
  return defineTool({
    name: 'kb_bulk_set_tags',
    title: 'Replace tags of many documents',
    description: `Replaces all tags of ${selected}. Without set_collection, collections stay.`,
    effect: 'change',
    idempotent: true,
    input: z.object({ ...selectionInput, set_tags: tagListInput, set_collection: collectionInput.optional() }),
    output: bulkOutput,
    async run({ set_tags: newTags, set_collection: named, ...selection }, { signal }) {
      const { collection, tags } = readTags({ collection: named, tags: newTags });
      const chosen = readSelection(selection);
      if (collection !== undefined) {
        return showBulk(await engine.bulkSetTags(chosen, [collectionTag(collection), ...tags], { signal }));
      }
      return showBulk(await engine.bulkTags(chosen, { add: tags, replaces: 'others' }, { signal }));
    },
  });
}
