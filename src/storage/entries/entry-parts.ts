import type { Metadata, NewImage } from '../entries.ts';
import { metadataFields } from './metadata-fields.ts';
import { ask, type Dialect, query, type Work } from './work.ts';

/** What belongs to an entry and lies in tables of its own. Each function replaces what was there. */
export interface EntryParts {
  writeTags(entry: number, tags: readonly string[]): Work<void>;
  writeImages(entry: number, images: readonly NewImage[]): Work<void>;
  /** The fields that filters ask for; the metadata itself is in the entry's row. */
  writeFields(entry: number, metadata: Metadata | undefined): Work<void>;
  writeWords(entry: number, text: string): Work<void>;
  removeWords(entries: readonly number[]): Work<void>;
}

export function createEntryParts(dialect: Dialect): EntryParts {
  const table = (name: string) => `${dialect.schema}context_${name}`;
  return {
    *writeTags(entry, tags) {
      yield* query(`DELETE FROM ${table('tags')} WHERE entry = ?`, entry);
      for (const tag of tags) yield* query(`INSERT INTO ${table('tags')} (entry, tag) VALUES (?, ?)`, entry, tag);
    },
    *writeImages(entry, images) {
      yield* query(`DELETE FROM ${table('images')} WHERE entry = ?`, entry);
      for (const [position, { data, mimeType, metadata }] of images.entries()) {
        yield* query(
          `INSERT INTO ${table('images')} (entry, position, mime_type, metadata, data) VALUES (?, ?, ?, ?, ?)`,
          ...[entry, position, mimeType, metadata === undefined ? null : JSON.stringify(metadata), data],
        );
      }
    },
    *writeFields(entry, metadata) {
      yield* query(`DELETE FROM ${table('fields')} WHERE entry = ?`, entry);
      for (const { path, member, kind, head, folded, exact, number } of metadataFields(metadata ?? {})) {
        yield* query(
          `INSERT INTO ${table('fields')} (entry, path, member, kind, head, folded, exact, number)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[entry, path, member, kind, head, folded, exact === folded ? null : exact, number],
        );
      }
    },
    *writeWords(entry, text) {
      yield* removeWords([entry]);
      yield* ask((engine) => engine.writeWords(entry, { title: '', heading: '', body: text }));
    },
    removeWords,
  };

  function* removeWords(entries: readonly number[]): Work<void> {
    for (const name of dialect.wordTables) {
      yield* query(`DELETE FROM ${table(name)} WHERE key IN (${dialect.integers})`, { list: entries });
    }
  }
}
