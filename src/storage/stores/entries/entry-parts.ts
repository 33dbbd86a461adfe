import type { Metadata, NewImage } from '../../contracts/entries.ts';
import type { Dialect } from '../../dialect.ts';
import type { SqlValue } from '../../statements.ts';
import type { FieldIndex } from './indexed-fields.ts';
import { metadataFields } from './metadata-fields.ts';
import { ask, query, type Work } from './work.ts';

/** What belongs to an entry and lies in tables of its own. `write` replaces what was there, `add` knows that nothing was. */
export interface EntryParts {
  writeTags(entry: number, tags: readonly string[]): Work<void>;
  addTags(entries: readonly { entry: number; tags: readonly string[] }[]): Work<void>;
  writeImages(entry: number, images: readonly NewImage[]): Work<void>;
  /** The fields that the index holds; the metadata itself is in the entry's row. */
  writeFields(entry: number, metadata: Metadata | undefined, index: FieldIndex): Work<void>;
  /** Also for entries of which the index holds something already. */
  addFields(entries: readonly { entry: number; metadata: Metadata }[], index: FieldIndex): Work<void>;
  /** The entry has no summary yet, and one shall be made. */
  wantSummary(entry: number): Work<void>;
  dropSummary(entry: number): Work<void>;
  writeWords(entry: number, text: string): Work<void>;
  addWords(entries: readonly { entry: number; text: string }[]): Work<void>;
  removeWords(entries: readonly number[]): Work<void>;
}

/** Rows that go into one statement. */
const rowsMax = 100;

export function createEntryParts(dialect: Dialect): EntryParts {
  const table = (name: string) => `${dialect.schema}context_${name}`;
  return {
    *writeTags(entry, tags) {
      yield* query(`DELETE FROM ${table('tags')} WHERE entry = ?`, entry);
      yield* addTags([{ entry, tags }]);
    },
    addTags,
    *writeImages(entry, images) {
      yield* query(`DELETE FROM ${table('images')} WHERE entry = ?`, entry);
      for (const [position, { data, mimeType, metadata }] of images.entries()) {
        yield* query(
          `INSERT INTO ${table('images')} (entry, position, mime_type, metadata, data) VALUES (?, ?, ?, ?, ?)`,
          ...[entry, position, mimeType, metadata === undefined ? null : JSON.stringify(metadata), data],
        );
      }
    },
    *writeFields(entry, metadata, index) {
      yield* query(`DELETE FROM ${table('fields')} WHERE entry = ?`, entry);
      if (metadata !== undefined) yield* addFields([{ entry, metadata }], index);
    },
    addFields,
    *wantSummary(entry) {
      yield* query(`INSERT INTO ${table('summary_queue')} (entry) VALUES (?) ON CONFLICT DO NOTHING`, entry);
    },
    *dropSummary(entry) {
      yield* query(`DELETE FROM ${table('summary_queue')} WHERE entry = ?`, entry);
    },
    *writeWords(entry, text) {
      yield* removeWords([entry]);
      yield* addWords([{ entry, text }]);
    },
    addWords,
    removeWords,
  };

  function* addFields(entries: readonly { entry: number; metadata: Metadata }[], index: FieldIndex): Work<void> {
    const rows = entries.flatMap(({ entry, metadata }) =>
      metadataFields(metadata, index).map(({ path, member, kind, head, folded, exact, number }) => {
        return [entry, path, member, kind, head, folded, exact === folded ? null : exact, number];
      }),
    );
    yield* insert(`${table('fields')} (entry, path, member, kind, head, folded, exact, number)`, rows);
  }

  function* addTags(entries: readonly { entry: number; tags: readonly string[] }[]): Work<void> {
    yield* insert(
      `${table('tags')} (entry, tag)`,
      entries.flatMap(({ entry, tags }) => tags.map((tag) => [entry, tag])),
    );
  }

  function* addWords(entries: readonly { entry: number; text: string }[]): Work<void> {
    const documents = entries.map(({ entry, text }) => ({ key: entry, title: '', heading: '', body: text }));
    yield* ask((engine) => engine.writeWords(documents));
  }

  /** Rows of one table in as few statements as may be. What is there already stays. */
  function* insert(into: string, rows: readonly (readonly SqlValue[])[]): Work<void> {
    for (let at = 0; at < rows.length; at += rowsMax) {
      const some = rows.slice(at, at + rowsMax);
      const places = some.map((row) => `(${row.map(() => '?').join(', ')})`).join(', ');
      yield* query(`INSERT INTO ${into} VALUES ${places} ON CONFLICT DO NOTHING`, ...some.flat());
    }
  }

  function* removeWords(entries: readonly number[]): Work<void> {
    for (const name of dialect.wordTables) {
      yield* query(`DELETE FROM ${table(name)} WHERE key IN (${dialect.integers})`, { list: entries });
    }
  }
}
