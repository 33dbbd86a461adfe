import type { Caller, Fields } from './caller.ts';
import type { StoredThing } from './history.ts';
import { type KindName, nameOf, threadOf, versionIn } from './things.ts';

/** Lists everything that is stored at the end of the run, page by page. */
export async function listStored({ call }: Caller, clients: number): Promise<StoredThing[]> {
  const stored: StoredThing[] = [];
  const wordIn = (text: unknown): string => String(text).split(/\s/)[0] ?? '';
  for (let client = 0; client < clients; client += 1) {
    const entries = await pages(100, async (page) => {
      const { results } = await call('search_context', { thread_id: threadOf(client), ...page });
      return results;
    });
    for (const { id, text_content: text } of entries) stored.push(storedThing('entry', wordIn(text), id, text));
  }
  const notes = await pages(100, async (page) => (await call('list_notes', page))['notes']);
  for (const { id, title, snippet } of notes) stored.push(storedThing('note', String(title), id, snippet));
  const documents = await pages(500, async (page) => (await call('kb_list', page))['documents']);
  for (const { document_id: id, title } of documents)
    stored.push(storedThing('document', String(title), id, undefined));
  return stored;
}

function storedThing(kind: KindName, word: string, id: unknown, text: unknown): StoredThing {
  return { thing: nameOf({ kind, word }), id: String(id), version: versionIn(text) };
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
