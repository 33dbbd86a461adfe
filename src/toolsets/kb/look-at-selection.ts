import type { BulkSelection, Engine, EngineCall, EngineDocument } from '../../engine/engine.ts';

const pageSize = 500;
/** More documents than these are not looked at one by one. */
const pagesMax = 20;
const titlesMax = 3;

/**
 * How many documents a bulk operation would choose, and some of their titles. Ids are no condition of lists, and not every
 * engine knows the other ones, so documents are looked at one by one.
 */
export async function lookAtSelection(
  engine: Pick<Engine, 'documents'>,
  selection: BulkSelection,
  options: EngineCall,
): Promise<{ count: number | string; titles: string[] }> {
  const { tags, doc_type: type } = selection;
  const isChosen = chooses(selection);
  const titles: string[] = [];
  let count = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = { tags, type, limit: pageSize, offset: page * pageSize };
    const { documents, total } = await engine.documents(request, options);
    const chosen = documents.filter(isChosen);
    count += chosen.length;
    titles.push(...chosen.slice(0, titlesMax - titles.length).map(({ title }) => title));
    if ((page + 1) * pageSize >= total || documents.length === 0) return { count, titles };
  }
  return { count: `${count} or more`, titles };
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
