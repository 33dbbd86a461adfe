import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { collectionTag, isCollectionTag } from '../../../engine/collection-tag.ts';
import type { Engine } from '../../../engine/engine.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import { bulkOutput, readSelection, selected, selectionInput, showBulk } from '../inputs/bulk-selection.ts';
import { collectionInput, readTags, tagListInput } from '../inputs/collections.ts';

export function createKbBulkTagsTool(engine: Pick<Engine, 'bulkTags'>): Tool {
  return defineTool({
    name: 'kb_bulk_tags',
    title: 'Tag many documents',
    description: `Adds or removes tags, or sets the collection (set_collection), of ${selected}.`,
    effect: 'change',
    idempotent: true,
    input: z.object({
      ...selectionInput,
      add: tagListInput.optional(),
      remove: tagListInput.optional(),
      set_collection: collectionInput.optional(),
    }),
    output: bulkOutput,
    async run({ add, remove = [], set_collection: named, ...selection }, { signal }) {
      const { collection, tags } = readTags({ collection: named, tags: add });
      if (collection === undefined && tags.length === 0 && remove.length === 0) {
        throw new CarrelError('invalid_arguments', 'Nothing would change: give add, remove or set_collection.');
      }
      const chosen = readSelection(selection);
      if (collection === undefined) return showBulk(await engine.bulkTags(chosen, { remove, add: tags }, { signal }));
      const change = {
        remove: remove.filter((tag) => !isCollectionTag(tag)),
        add: [collectionTag(collection), ...tags],
        replaces: 'collections',
      } as const;
      return showBulk(await engine.bulkTags(chosen, change, { signal }));
    },
  });
}
