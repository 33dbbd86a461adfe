import type { Caller, Fields } from './caller.ts';
import type { StoredItem } from './history.ts';
import { type KindName, nameOf, threadOf, versionIn } from './items.ts';

/** Lists everything that is stored at the end of the run, page by page. */
export async function listStored({ call }: Caller, clients: number): Promise<StoredItem[]> {
  const stored: StoredItem[] = [];
  const wordIn = (text: unknown): string => String(text).split(/\s/)[0] ?? '';
  for (let client = 0; client < clients; client += 1) {
    const entries = await readAllPages(100, async (range) => {
      const { results } = await call('search_context', { thread_id: threadOf(client), ...range });
      return results;
    });
    for (const { id, text_content: text } of entries) stored.push(storedItem('entry', wordIn(text), id, text));
  }
  const notes = await readAllPages(100, async (range) => (await call('list_notes', range))['notes']);
  for (const { id, title, snippet } of notes) stored.push(storedItem('note', String(title), id, snippet));
  const documents = await readAllPages(500, async (range) => (await call('kb_list', range))['documents']);
  for (const { document_id: id, title } of documents) stored.push(storedItem('document', String(title), id, undefined));
  return stored;
}

function storedItem(kind: KindName, word: string, id: unknown, text: unknown): StoredItem {
  return { item: nameOf({ kind, word }), id: String(id), version: versionIn(text) };
}

async function readAllPages(
  limit: number,
  readPage: (range: { limit: number; offset: number }) => Promise<unknown>,
): Promise<Fields[]> {
  const rows: Fields[] = [];
  for (;;) {
    const batch = (await readPage({ limit, offset: rows.length })) as Fields[];
    rows.push(...batch);
    if (batch.length < limit) return rows;
  }
}
