import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { load } from 'sqlite-vec';
import type { BenchRow } from './rows.ts';
import { dimensions } from './vectors.ts';

/** Plain SQLite for comparison: FTS5 over a table, as in SQLite's documentation, and sqlite-vec. */
export interface RawPeer {
  insert(rows: readonly BenchRow[]): void;
  insertVectors(firstKey: number, vectors: readonly Float32Array[]): void;
  words(words: readonly string[], limit: number): unknown[];
  nearest(vector: Float32Array, limit: number): unknown[];
  bytes(): number;
  close(): void;
  /** Closes the database and deletes its files. */
  remove(): void;
}

export interface RawPeerConfig {
  readonly folder: string;
  readonly name: string;
  /** How FTS5 is filled: by a trigger on the table, or by a second statement. */
  readonly ftsFilledBy: 'trigger' | 'statement';
}

/** The same connection settings as Carrel's. */
const settings = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768;
  PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;`;

const schema = `
  CREATE TABLE passages (key INTEGER PRIMARY KEY, id TEXT, title TEXT, heading TEXT, body TEXT);
  CREATE VIRTUAL TABLE words USING fts5 (
    title, heading, body, content = 'passages', content_rowid = 'key', tokenize = 'porter unicode61'
  );
  CREATE VIRTUAL TABLE vectors USING vec0 (embedding float[${dimensions}]);`;

const trigger = `CREATE TRIGGER passages_added AFTER INSERT ON passages BEGIN
    INSERT INTO words (rowid, title, heading, body) VALUES (new.key, new.title, new.heading, new.body);
  END;`;

export function createRawPeer({ folder, name, ftsFilledBy }: RawPeerConfig): RawPeer {
  const path = join(folder, `${name}.db`);
  const database = new DatabaseSync(path, { allowExtension: true });
  load(database);
  database.exec(settings + schema + (ftsFilledBy === 'trigger' ? trigger : ''));
  const insertRow = database.prepare('INSERT INTO passages (id, title, heading, body) VALUES (?, ?, ?, ?)');
  const insertWords = database.prepare('INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)');
  const insertVector = database.prepare('INSERT INTO vectors (rowid, embedding) VALUES (?, ?)');
  const searchWords = database.prepare(
    `SELECT p.key, p.id, p.title, rank FROM words JOIN passages p ON p.key = words.rowid
     WHERE words MATCH ? ORDER BY rank LIMIT ?`,
  );
  const searchVectors = database.prepare('SELECT rowid, distance FROM vectors WHERE embedding MATCH ? AND k = ?');
  const transaction = (work: () => void) => {
    database.exec('BEGIN IMMEDIATE');
    work();
    database.exec('COMMIT');
  };
  return {
    insert: (rows) =>
      transaction(() => {
        for (const { id, title, heading, body } of rows) {
          const key = insertRow.run(id, title, heading, body).lastInsertRowid;
          if (ftsFilledBy === 'statement') insertWords.run(key, title, heading, body);
        }
      }),
    insertVectors: (firstKey, vectors) =>
      transaction(() => {
        for (const [at, vector] of vectors.entries()) insertVector.run(BigInt(firstKey + at), bytesOf(vector));
      }),
    words: (words, limit) => searchWords.all(words.map((word) => `"${word}"`).join(' OR '), limit),
    nearest: (vector, limit) => searchVectors.all(bytesOf(vector), BigInt(limit)),
    bytes: () => statSync(path).size,
    close: () => database.close(),
    remove() {
      database.close();
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    },
  };
}

function bytesOf(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}
