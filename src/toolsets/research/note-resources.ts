import { shortHash } from '../../answers/explain.ts';
import { listInPages } from '../../answers/list-in-pages.ts';
import { CarrelError } from '../../base/errors.ts';
import type { ListedNote, NoteStore } from '../../storage/notes/notes.ts';
import type { ResourceProvider, ResourceSummary } from '../../tools/resource.ts';
import { createCursorSigner } from '../../tools/signed-cursor.ts';
import { findNote, showListedNote, showNote } from './notes.ts';

export const noteUriPrefix = 'carrel://notes/';

/** Returns a note's URI, its hash for `verify`, and the range of the snippet in its content. */
export function noteCitation({ id, contentHash, snippet }: ListedNote) {
  return { uri: noteUriPrefix + id, hash: shortHash(contentHash), range: snippet.range };
}

const completionsMax = 20;
const mimeType = 'text/markdown';

/** Offers notes as `carrel://notes/<id>`, newest first. */
export function createNoteResources(notes: NoteStore): ResourceProvider {
  const cursors = createCursorSigner(noteUriPrefix);
  return {
    uriPrefix: noteUriPrefix,
    templates: [
      {
        uriTemplate: `${noteUriPrefix}{id}`,
        name: 'note',
        title: 'Research note',
        description: 'A saved note.',
        mimeType,
      },
    ],
    async list(cursor, call) {
      const list = {
        read: async (offset: number, limit: number) => (await notes.list({ limit, offset }, call)).notes,
        idOf: ({ id }: ListedNote) => id,
      };
      const { members, ...next } = await listInPages(list, cursors, cursor);
      const resources = members.map(showListedNote).map(
        ({ id, title, tags, created_at: created }): ResourceSummary => ({
          uri: noteUriPrefix + id,
          name: id,
          title,
          description: `Note of ${created.slice(0, 10)}${tags.length > 0 ? `, tagged ${tags.join(', ')}` : ''}`,
          mimeType,
        }),
      );
      return { resources, ...next };
    },
    async fingerprint(uri, { signal }) {
      if (uri === undefined) {
        const { notes: newest, total } = await notes.list({ limit: 1, offset: 0 }, { signal });
        return JSON.stringify([total, newest[0]?.id, newest[0]?.updatedAt]);
      }
      const note = await findNote(notes, uri.slice(noteUriPrefix.length), signal);
      if (note === undefined) throw new CarrelError('resource_not_found', 'No note has this URI.', { data: { uri } });
      return note.updatedAt;
    },
    /** Suggests notes that contain the typed words. */
    async complete(_template, _variable, typed, { signal }) {
      const query = typed.trim() === '' ? {} : { query: typed };
      const found = await notes.list({ ...query, limit: completionsMax, offset: 0 }, { signal });
      return found.notes.map(({ id }) => id);
    },
    async read({ uri }, call) {
      const note = await findNote(notes, uri.slice(noteUriPrefix.length), call.signal);
      if (note === undefined) throw new CarrelError('resource_not_found', 'No note has this URI.', { data: { uri } });
      const { title, content, tags, source_urls: sources, created_at: created, updated_at: updated } = showNote(note);
      const facts = [
        `Created: ${created}`,
        ...(updated === created ? [] : [`Updated: ${updated}`]),
        ...(tags.length > 0 ? [`Tags: ${tags.join(', ')}`] : []),
        ...sources.map((source) => `Source: <${source}>`),
      ];
      const text = `# ${title.replace(/\s+/g, ' ')}\n\n${content}\n\n---\n\n${facts.join('  \n')}\n`;
      return { contents: [{ uri: noteUriPrefix + note.id, mimeType, text }] };
    },
  };
}
