import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Statements } from '../dialect.ts';
import { openDatabase } from '../sqlite/database.ts';
import { createLocalTransactions, createSqliteDialect } from '../sqlite/dialect.ts';
import { migrate } from '../sqlite/migrate.ts';
import { type BulkRequest, changeDocuments } from './change-documents.ts';

const now = '2026-11-16T00:00:00.000Z';
const count = 1_203;

test('changes documents in batches, all or none', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bulk-'));
  const database = openDatabase({ path: join(folder, 'carrel.db'), role: 'writer', busyTimeoutMs: 1000 });
  t.after(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await migrate(database);
  database.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      INSERT INTO kb_documents (title, doc_type, filename, content_hash, content_type, bytes, details, chunk_count, created_at)
      SELECT 't', 'text', 'f', printf('%064d', n), 'text/plain', 1, '{}', 0, ? FROM numbers`,
    now,
  );
  database.run("INSERT INTO kb_document_tags (tag, document, position) VALUES ('a', ?, 0), ('b', ?, 1)", count, count);
  let most = 0;
  const counted = (on: Statements): Statements => ({
    ...on,
    async query(sql, values) {
      const rows = await on.query(sql, values);
      if (rows.some((row) => 'title' in row)) most = Math.max(most, rows.length);
      return rows;
    },
  });
  const { write } = createLocalTransactions(database, createSqliteDialect(database, { documentsDir: folder }));
  const change = (action: BulkRequest['action']) =>
    write(
      (on, request: BulkRequest) => changeDocuments(counted(on), request),
      { selection: { docType: 'text' }, action, percentMax: 100, tagsMax: 2, restorable: true },
      now,
    );
  const tagged = () => database.get("SELECT count(*) AS total FROM kb_document_tags WHERE tag = 'c'")?.['total'];

  const full = await change({ kind: 'tags', add: ['c'], remove: [] });
  assert.deepEqual(
    [full, tagged()],
    [{ outcome: 'tags_full', id: count }, 0],
    'one full document prevents all changes',
  );
  const set = await change({ kind: 'set_tags', tags: ['c'] });
  assert.deepEqual([set.outcome === 'changed' && set.changed, tagged()], [count, count]);
  const removed = await change({ kind: 'delete' });
  assert.ok(removed.outcome === 'changed');
  assert.equal(new Set(removed.contentHashes).size, count);
  assert.deepEqual({ ...database.get('SELECT count(*) AS total FROM kb_deleted') }, { total: count });
  assert.ok(most > 0 && most <= 500, `${most} at a time`);
});
