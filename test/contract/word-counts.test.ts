import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Statements } from '../../src/storage/dialect.ts';
import { type Connections, createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { migrate } from '../../src/storage/postgres/migrate.ts';
import { withQuestionMarks } from '../../src/storage/postgres/postgres-storage.ts';
import { countWords } from '../../src/storage/postgres/words/word-table.ts';
import { passageWords } from '../../src/storage/words/word-indexes.ts';
import {
  createTestDatabase,
  type PostgresServer,
  serverObstacle,
  startRealPostgres,
  type TestDatabase,
} from '../support/postgres.ts';

const documents = 12_000;

/** PostgreSQL's own statistics tell how common a word is. */
describe('counts of words on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let database: TestDatabase;
  let connections: Connections;
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    database = await createTestDatabase(server);
    connections = createConnections({ url: database.url });
    await migrate(connections);
    await outsideTransaction('ALTER TABLE carrel.kb_passage_words SET (autovacuum_enabled = false)');
    await insert(1, documents);
  });
  after(async () => {
    await connections.close();
    await database.drop();
    await server.stop();
  });

  test('are exact before the table was analysed', async () => {
    assert.deepEqual(await count(documents), [documents, documents / 2, 1, documents / 2]);
    await outsideTransaction('ANALYZE carrel.kb_passage_words');
  });

  test('are shares of all documents for common words, and exact for rare words and prefixes', async () => {
    await outsideTransaction('DELETE FROM carrel.kb_passage_words WHERE key % 3 = 0');
    assert.deepEqual(await count(documents), [documents, documents / 2, 1, documents / 3]);
    assert.deepEqual(await count(documents * 1.5), [documents * 1.5, documents * 0.75, 1, documents / 3]);
  });

  test('are exact in a small index', async () => {
    assert.deepEqual(await count(9_999), [(documents / 3) * 2, documents / 3, 1, documents / 3]);
  });

  const leaves = [
    ...['river', 'bridg', 'harbour'].map((term) => ({ kind: 'term' as const, term })),
    { kind: 'prefix' as const, prefix: 'brid' },
  ];

  function count(all: number): Promise<number[]> {
    return connections.read((connection) =>
      countWords(withQuestionMarks(connection) as Statements, passageWords, leaves, all),
    );
  }

  function outsideTransaction(sql: string) {
    return connections.outsideTransaction((statements) => statements.query(sql));
  }

  function insert(first: number, last: number) {
    return connections.write(async (statements) => {
      await statements.query(
        `INSERT INTO carrel.kb_passages (key, id, parent, position, title, headings, body, labels, metadata) OVERRIDING SYSTEM VALUE
         SELECT key, 'p' || key, '1', 0, '', '{}', '', '{}', '{}' FROM generate_series($1::bigint, $2::bigint) key`,
        [first, last],
      );
      await statements.query(
        `INSERT INTO carrel.kb_passage_words SELECT key, array_to_tsvector(array_remove(
           ARRAY['river', CASE WHEN key % 2 = 0 THEN 'bridg' END, CASE WHEN key = 1 THEN 'harbour' END], NULL))
         FROM generate_series($1::bigint, $2::bigint) key`,
        [first, last],
      );
    });
  }
});
