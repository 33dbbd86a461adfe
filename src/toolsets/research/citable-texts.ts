import type { CallCounter } from '../../base/shared-window.ts';
import { textHash } from '../../base/text-hash.ts';
import type { NoteStore } from '../../storage/notes/notes.ts';
import type { CitableTexts } from '../../tools/citable-texts.ts';
import { type Quota, spend } from '../../tools/quota.ts';
import { noteUriPrefix } from './note-resources.ts';
import { findNote } from './notes.ts';
import type { PageReader } from './page-reader.ts';

export function createCitableNotes(notes: NoteStore): CitableTexts {
  return {
    uriPrefixes: [noteUriPrefix],
    async read(uri, { signal }) {
      const note = await findNote(notes, uri.slice(noteUriPrefix.length), signal);
      return note && { hash: textHash(note.content), passages: [{ text: `${note.title}\n` }, { text: note.content }] };
    },
  };
}

/** Makes web pages citable, in their current version. Reading one counts against the quota of `fetch_page`. */
export function createCitablePages(quota: Quota & { window: CallCounter }, pages: PageReader): CitableTexts {
  return {
    uriPrefixes: ['https://', 'http://'],
    tool: 'fetch_page',
    async read(url, { signal, caller }) {
      await spend(quota.window, 'fetch', quota, caller.id);
      const { text, isTruncated } = await pages.read({ url, mode: 'text', reusesRecent: false, signal });
      return { hash: textHash(text), passages: [{ text }], isTruncated };
    },
  };
}
