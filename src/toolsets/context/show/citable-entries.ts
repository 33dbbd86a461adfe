import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { CitableTexts } from '../../../tools/citable-texts.ts';
import { entryUriPrefix } from './entry-resources.ts';

export function createCitableEntries(entries: Pick<EntryStore, 'get'>): CitableTexts {
  return {
    uriPrefixes: [entryUriPrefix],
    async read(uri, { signal }) {
      const id = /^[1-9]\d{0,14}$/.exec(uri.slice(entryUriPrefix.length))?.[0];
      const [entry] = id === undefined ? [] : await entries.get({ ids: [Number(id)], images: false }, { signal });
      return entry && { hash: entry.textHash, passages: [{ text: entry.text }] };
    },
  };
}
