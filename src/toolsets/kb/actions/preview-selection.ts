import { idsHash, textHash } from '../../../base/text-hash.ts';
import type { BulkSelection, Engine, EngineCall, EngineDocument } from '../../../engine/engine.ts';

const pageSize = 500;
/** Max pages of documents to examine. */
const pagesMax = 20;
const titlesMax = 3;

export interface SelectionPreview {
  count: number | string;
  /** Sample titles. */
  titles: string[];
  /** Ids of the selected documents. Undefined if there are too many documents to examine. */
  ids?: number[];
  /** Changes if other documents are selected. */
  hash: string;
}

/**
 * Counts and lists the documents that a bulk operation selects. Examines documents one by one, because `documents()` can't filter
 * by id, and not every engine knows the other conditions.
 */
export async function previewSelection(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  options: EngineCall,
): Promise<SelectionPreview> {
  const { tags, doc_type: type } = selection;
  const isChosen = chooses(selection);
  const found = new Map<number, string>();
  const preview = () => {
    const titles = [...found.values()].slice(0, titlesMax);
    const ids = [...found.keys()];
    return { titles, ids, hash: idsHash(ids) };
  };
  let total = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = { tags, type, limit: pageSize, offset: page * pageSize };
    const listed = await engine.documents(request, options);
    for (const { id, title } of listed.documents.filter(isChosen)) found.set(id, title);
    total = listed.total;
    if ((page + 1) * pageSize >= total || listed.documents.length === 0) return { count: found.size, ...preview() };
  }
  const { titles, hash } = preview();
  // The hash covers only the documents examined. A new document changes it too, because lists start with the last change.
  return { count: `${found.size} or more`, titles, hash: textHash(`${hash} ${total}`) };
}

function chooses(selection: BulkSelection): (document: EngineDocument) => boolean {
  const { document_ids: ids, from_id: from = 0, to_id: to = Number.MAX_SAFE_INTEGER, doc_type: type } = selection;
  const wanted = ids && new Set(ids);
  return ({ id, doc_type: own, tags }) =>
    (wanted?.has(id) ?? true) &&
    id >= from &&
    id <= to &&
    (type === undefined || own === type) &&
    (selection.tags ?? []).every((tag) => tags.includes(tag));
}
