import type { StoredVector, TextToEmbed, VectorState, VectorsAfterRequest, VectorsRequest } from '../entries.ts';
import { bytesOf, type Dialect, numberOf, optionalTextOf, query, type Row, textOf, type Work } from './work.ts';

export interface EntryVectors {
  unembedded(request: { readonly model: string; readonly limit: number }): Work<TextToEmbed[]>;
  putVectors(request: VectorsRequest): Work<number>;
  vectorState(request: { readonly model: string }): Work<VectorState>;
  vectorsAfter(request: VectorsAfterRequest): Work<StoredVector[]>;
  vectorKeys(request: { readonly model: string }): Work<number[]>;
  vectors(request: { readonly keys: readonly number[] }): Work<StoredVector[]>;
}

export function createEntryVectors(dialect: Dialect): EntryVectors {
  const entries = `${dialect.schema}context_entries`;
  const embeddings = `${dialect.schema}context_embeddings`;
  const vectors = `${dialect.schema}context_vectors`;
  const pending = `${entries} o LEFT JOIN ${embeddings} e ON e.entry = o.key AND e.model = ?
    WHERE e.entry IS NULL AND o.deleted_at IS NULL`;
  return {
    *unembedded({ model, limit }) {
      const rows = yield* query(
        `SELECT o.key, o.text_content, o.text_hash,
           (SELECT p.text_content FROM ${entries} p WHERE p.thread_id = o.thread_id AND p.key < o.key
              AND p.deleted_at IS NULL ORDER BY p.key DESC LIMIT 1) AS before
         FROM ${pending} ORDER BY o.key LIMIT ?`,
        ...[model, limit],
      );
      return rows.map((row) => ({
        id: numberOf(row, 'key'),
        text: textOf(row, 'text_content'),
        textHash: textOf(row, 'text_hash'),
        before: optionalTextOf(row, 'before'),
      }));
    },
    *putVectors({ model, entries: embedded }) {
      let written = 0;
      for (const { id, textHash, windows } of embedded) {
        const [current] = yield* query(
          `SELECT key FROM ${entries} WHERE key = ? AND text_hash = ? AND deleted_at IS NULL ${dialect.forUpdate}`,
          ...[id, textHash],
        );
        if (current === undefined) continue;
        yield* query(`DELETE FROM ${vectors} WHERE entry = ?`, id);
        yield* query(`DELETE FROM ${embeddings} WHERE entry = ?`, id);
        yield* query(`INSERT INTO ${embeddings} (entry, model) VALUES (?, ?)`, id, model);
        for (const { start, end, vector } of windows) {
          const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
          yield* query(
            `INSERT INTO ${vectors} (entry, model, start_at, end_at, vector) VALUES (?, ?, ?, ?, ?)`,
            ...[id, model, start, end, bytes],
          );
        }
        written += 1;
      }
      return written;
    },
    *vectorState({ model }) {
      const [state = {}] = yield* query(
        `SELECT count(*) AS total, coalesce(max(key), 0) AS last_key FROM ${vectors} WHERE model = ?`,
        model,
      );
      // What is removed loses its vectors at once, so the difference is what still waits.
      const [live = {}] = yield* query(`SELECT count(*) AS total FROM ${entries} WHERE deleted_at IS NULL`);
      const [done = {}] = yield* query(`SELECT count(*) AS total FROM ${embeddings} WHERE model = ?`, model);
      return {
        count: numberOf(state, 'total'),
        lastKey: numberOf(state, 'last_key'),
        pending: numberOf(live, 'total') - numberOf(done, 'total'),
      };
    },
    *vectorsAfter({ model, after, limit }) {
      const rows = yield* query(
        `SELECT * FROM ${vectors} WHERE model = ? AND key > ? ORDER BY key LIMIT ?`,
        ...[model, after, limit],
      );
      return rows.map(vectorOf);
    },
    *vectorKeys({ model }) {
      const rows = yield* query(`SELECT key FROM ${vectors} WHERE model = ? ORDER BY key`, model);
      return rows.map((row) => numberOf(row, 'key'));
    },
    *vectors({ keys }) {
      const rows = yield* query(`SELECT * FROM ${vectors} WHERE key IN (${dialect.integers})`, { list: keys });
      return rows.map(vectorOf);
    },
  };
}

function vectorOf(row: Row): StoredVector {
  const bytes = bytesOf(row, 'vector');
  // Copied, because four bytes that begin anywhere in a larger buffer cannot be read as a number.
  const vector = new Float32Array(new Uint8Array(bytes).buffer);
  return {
    key: numberOf(row, 'key'),
    entryId: numberOf(row, 'entry'),
    start: numberOf(row, 'start_at'),
    end: numberOf(row, 'end_at'),
    vector,
  };
}
