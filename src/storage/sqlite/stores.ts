import { currentLanguage, type Language } from '../../words/language.ts';
import { corpora } from '../contracts/passages.ts';
import type { StorageDescription } from '../contracts/storage.ts';
import { type Database, numberOf, textOf } from './database.ts';
import { createDocumentTable, type DocumentTable } from './documents.ts';
import { createEntryTable, type EntryTable } from './entries.ts';
import { schemaVersion } from './migrate.ts';
import { createNoteTable, type NoteTable } from './notes.ts';
import { createPassageTables, type PassageTables } from './passages.ts';
import { createVectorTables, type VectorTables } from './vectors.ts';
import type { WriteHelper } from './write-helper.ts';

/** Everything that the thread of a connection can be asked for. Each call ends before the next one begins. */
export interface SqliteStores {
  readonly notes: NoteTable;
  readonly entries: EntryTable;
  readonly passages: PassageTables;
  readonly documents: DocumentTable;
  readonly vectors: VectorTables;
  readonly upkeep: Upkeep;
}

export interface Upkeep {
  describe(): StorageDescription;
  check(): string[];
  /** Of the words, on this thread. */
  language(): Language;
}

export interface StoresConfig {
  readonly documentsDir?: string | undefined;
  /** Takes part of large writes. Without it all is done here. */
  readonly helper?: WriteHelper | undefined;
}

export function createStores(database: Database, { documentsDir = '', helper }: StoresConfig = {}): SqliteStores {
  const passages = createPassageTables(database, helper);
  return {
    notes: createNoteTable(database),
    entries: createEntryTable(database),
    passages,
    documents: createDocumentTable(database, passages, documentsDir),
    vectors: createVectorTables(database),
    upkeep: createUpkeep(database),
  };
}

/** The word indexes, by the prefix of their tables. */
const indexes = ['note', 'context_entry', ...corpora.map((corpus) => `${corpus}_passage`)];

function createUpkeep(database: Database): Upkeep {
  return {
    describe() {
      const pages = numberOf(database.get('PRAGMA page_count') ?? {}, 'page_count');
      const pageBytes = numberOf(database.get('PRAGMA page_size') ?? {}, 'page_size');
      return {
        backend: 'sqlite',
        version: textOf(database.get('SELECT sqlite_version() AS version') ?? {}, 'version'),
        schema: schemaVersion(database),
        bytes: pages * pageBytes,
      };
    },
    language: currentLanguage,
    check() {
      const problems = database
        .all('PRAGMA quick_check(10)')
        .map((row) => textOf(row, 'quick_check'))
        .filter((result) => result !== 'ok')
        .map((result) => `The file is damaged: ${result}`);
      for (const name of indexes) {
        try {
          // Rank 1 has FTS5 compare the index with the terms that it was made from, too.
          database.exec(`INSERT INTO ${name}_words (${name}_words, rank) VALUES ('integrity-check', 1)`);
        } catch {
          problems.push(`The full-text index ${name}_words does not agree with what is stored.`);
        }
      }
      return problems;
    },
  };
}
