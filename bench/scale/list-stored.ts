import type { Caller, Fields } from './caller.ts';
import type { StoredItem } from './history.ts';
import { type KindName, nameOf, threadOf, versionIn } from './items.ts';

/** Lists everything that is stored at the end of the run, page by page. */
export async function listStored({ call }: Caller, clients: number): Promise<StoredItem[]> {
  const stored: StoredItem[] = [];
  const wordIn = (text: unknown): string => String(text).split(/\s/)[0] ?? '';
  for (let client = 0; client < clients; client += 1) {
    const entries = await pages(100, async (page) => {
      const { results } = await call('search_context', { thread_id: threadOf(client), ...page });
      return results;
    });
    for (const { id, text_content: text } of entries) stored.push(storedItem('entry', wordIn(text), id, text));
  }
  const notes = await pages(100, async (page) => (await call('list_notes', page))['notes']);
  for (const { id, title, snippet } of notes) stored.push(storedItem('note', String(title), id, snippet));
  const documents = await pages(500, async (page) => (await call('kb_list', page))['documents']);
  for (const { document_id: id, title } of documents) stored.push(storedItem('document', String(title), id, undefined));
  return stored;
}

function storedItem(kind: KindName, word: string, id: unknown, text: unknown): StoredItem {
  return { item: nameOf({ kind, word }), id: String(id), version: versionIn(text) };
}

async function pages(
  limit: number,
  page: (of: { limit: number; offset: number }) => Promise<unknown>,
): Promise<Fields[]> {
  const all: Fields[] = [];
  for (;;) {
    const some = (await page({ limit, offset: all.length })) as Fields[];
    all.push(...some);
    if (some.length < limit) return all;
  }
}
