import { CarrelError } from '../../base/errors.ts';
import type { BulkAction } from '../../storage/documents/change-documents.ts';
import type { DocumentSelection } from '../../storage/documents/selection.ts';
import type { Storage } from '../../storage/storage.ts';
import { invalidInput, readDocType, readTags, tagsMax } from '../contract/validate-input.ts';
import type { BulkOutcome, BulkSelection, Engine, EngineCall } from '../engine.ts';
import type { EngineSettings } from '../engine-slice.ts';
import { pruneDeleted } from './prune.ts';

type BulkMethods = Pick<Engine, 'bulkDelete' | 'bulkTags' | 'bulkSetTags'>;

const idsMax = 10_000;

/** Creates the bulk methods. Each changes many documents in one transaction. */
export function createBulkChanges(settings: EngineSettings, { storage }: { storage: Storage }): BulkMethods {
  return {
    bulkDelete: (selection, options) => change(selection, { kind: 'delete' }, options),
    async bulkTags(selection, { add: added = [], remove: removed = [], replaces }, options) {
      const [add, remove] = [readTags(added, 'add'), readTags(removed, 'remove')];
      if (add.length + remove.length === 0 && replaces === undefined) {
        throw invalidInput('add or remove must name at least one tag');
      }
      return change(selection, { kind: 'tags', add, remove, ...(replaces ? { replaces } : {}) }, options);
    },
    bulkSetTags: async (selection, tags, options) =>
      change(selection, { kind: 'set_tags', tags: readTags(tags) }, options),
  };

  async function change(request: BulkSelection, action: BulkAction, options: EngineCall = {}): Promise<BulkOutcome> {
    const selection = { ...selectionOf(request), anyTags: options.scopedTo };
    const percentMax = request.force ? 100 : settings.bulkSafetyPercent;
    const restorable = settings.deletedBytesMax > 0;
    const changed = await storage.documents.changeMany({ selection, action, percentMax, tagsMax, restorable });
    if (changed.outcome === 'too_many') throw tooMany(changed, settings.bulkSafetyPercent);
    if (changed.outcome === 'tags_full') {
      throw invalidInput(`Nothing was changed: document ${changed.id} would have more than ${tagsMax} tags`);
    }
    const { matched, total, changed: count, jobId, contentHashes } = changed;
    await storage.originals.release(contentHashes);
    if (action.kind === 'delete') await pruneDeleted(settings, storage);
    return { matched, total, changed: count, job_id: jobId };
  }
}

function selectionOf(request: BulkSelection): DocumentSelection {
  const { document_ids: ids, from_id: fromId, to_id: toId } = request;
  const selection = {
    ids,
    tags: request.tags && readTags(request.tags),
    docType: readDocType(request.doc_type),
    fromId,
    toId,
  };
  const { tags } = selection;
  const hasCondition = Object.values({ ...selection, tags: tags?.length ? tags : undefined }).some(
    (part) => part !== undefined,
  );
  if (!hasCondition) {
    throw new CarrelError(
      'empty_selection',
      'The call selects no documents. Name them by document_ids, tags, doc_type, from_id or to_id.',
    );
  }
  if (ids !== undefined && ids.length > idsMax) throw invalidInput(`document_ids must have at most ${idsMax} items`);
  return selection;
}

function tooMany(
  { matched, total, percent }: { matched: number; total: number; percent: number },
  threshold: number,
): CarrelError {
  const rounded = Math.round(percent * 10) / 10;
  const message = `This would change ${matched} of ${total} documents (${rounded} %), more than the ${threshold} % allowed without force. Narrow the selection, or repeat with force if this is intended.`;
  return new CarrelError('safety_threshold_exceeded', message, {
    data: { message, matched, total, percent: rounded, threshold },
  });
}
