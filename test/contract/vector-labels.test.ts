import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { createLogger, type LogRecord } from '../../src/base/log.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { type PassageWriter, passageWriter } from '../support/passages.ts';
import { until } from '../support/pause.ts';
import {
  createTestDatabase,
  type PostgresServer,
  serverObstacle,
  startRealPostgres,
  type TestDatabase,
} from '../support/postgres.ts';
import { randomNumbers, randomUnitVector } from '../support/test-vectors.ts';

const dimensions = 16;
/** With 50 passages each, enough for an index, which is built from 2,000 vectors. */
const documents = 42;
const model = 'test:labels';
const random = randomNumbers(3);

/** Filters are tested on the vector's row, so its labels must always match the passage's. */
describe('labels and indexes of vectors on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let database: TestDatabase;
  let storage: Storage;
  let passages: PassageWriter;
  let client: Pool;
  const logged: LogRecord[] = [];
  const logger = createLogger([{ level: 'warn', write: (record) => void logged.push(record), flush: () => {} }]);
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    database = await createTestDatabase(server);
    storage = await createPostgresStorage({ url: database.url }, { logger });
    passages = passageWriter(storage);
    client = new Pool({ connectionString: database.url });
    // `end` resolves before the connections are closed, so dropping the database may still break them.
    client.on('error', () => {});
  });
  after(async () => {
    await client.end();
    await storage.close();
    await database.drop();
    await server.stop();
  });

  const write = (document: number, labels: readonly string[], count = 10) =>
    passages.replace([{ parent: `d${document}`, passages: passagesOf(document, labels, count) }]);
  /** Documents are identified by their title. */
  const relabel = (document: number, label: string) =>
    client.query('UPDATE carrel.kb_passages SET labels = $2 WHERE title = $1', [`d${document}`, [`tag:${label}`]]);
  /** Relabelling by SQL does not update the words. */
  const vectorProblems = async () => (await storage.check()).filter((problem) => problem.includes('kb_vectors'));
  const search = async (label?: string, limit = 600) => {
    const filter = label === undefined ? undefined : { labels: [[`tag:${label}`]] };
    const query = randomUnitVector(dimensions, random);
    return (await storage.vectors.kb.readSnapshot({ model, query, limit, filter })).nearest ?? [];
  };
  const indexReady = () =>
    until(async () => {
      await search(undefined, 1);
      return (await storage.vectors.kb.models())[0]?.index === 'ready';
    });
  const indexes = async () =>
    (await client.query("SELECT relname FROM pg_class WHERE relname LIKE '%_vectors_nearest_%'")).rows;

  test('logs and retries a failed index build', async () => {
    // Takes the name that the index would get.
    await client.query('CREATE TABLE carrel.kb_vectors_nearest_1 ()');
    await passages.replace(
      Array.from({ length: documents }, (_, document) => ({
        parent: `d${document}`,
        passages: passagesOf(document, [`l${document % 7}`, 'all'], 50),
      })),
    );
    await search();
    while (logged.length === 0) await delay(20);
    assert.equal(logged[0]?.fields['work'], 'build index carrel.kb_vectors_nearest_1');
    await client.query('DROP TABLE carrel.kb_vectors_nearest_1');
    await indexReady();
  });

  test('labels match their passages during concurrent adds, relabels and deletes', async () => {
    const lanes = [1, 2, 3].map(async (lane) => {
      for (let step = 0; step < 30; step += 1) {
        const document = (step * 17 + lane * 97) % documents;
        if (step % 3 === 0) await relabel(document, `l${step % 5}`);
        else if (step % 3 === 1) await passages.remove([`d${document}`]);
        else await write(document, [`l${step % 7}`], 5 + (step % 5));
      }
    });
    await Promise.all(lanes);
    assert.deepEqual(await vectorProblems(), []);
    await client.query(
      "UPDATE carrel.kb_vectors SET labels = '{other}' WHERE key = (SELECT max(key) FROM carrel.kb_vectors)",
    );
    assert.deepEqual(await vectorProblems(), ['The labels in kb_vectors do not match the passages.']);
    await client.query(
      'UPDATE carrel.kb_vectors v SET labels = p.labels FROM carrel.kb_passages p WHERE p.key = v.owner',
    );
  });

  test('a filter finds passages by their current labels', async () => {
    await write(1, ['before'], 100);
    assert.equal((await search('before')).length, 100);
    await relabel(1, 'since');
    assert.equal((await search('before')).length, 0);
    assert.equal((await search('since')).length, 100);
  });

  test('drops the index with its model', async () => {
    assert.equal((await indexes()).length, 1);
    await storage.vectors.kb.drop(model);
    assert.deepEqual(await indexes(), []);
  });

  test('docs/scaling.md: the partitioning recipe works, and searches, writes and dropping a model continue', async () => {
    await write(1, ['first'], 2_100);
    await indexReady();
    const page = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
    await client.query(/```sql\n(DO .*?)```/s.exec(page)?.[1] ?? assert.fail('no recipe'));
    await write(2, ['second'], 10);
    await passages.remove(['d3']);
    assert.equal((await search('first', 3_000)).length, 2_100);
    assert.equal((await search('second')).length, 10);
    assert.deepEqual(await vectorProblems(), []);
    assert.equal((await storage.vectors.kb.models())[0]?.index, 'ready');
    await storage.vectors.kb.drop(model);
    assert.deepEqual(await indexes(), []);
  });
});

function passagesOf(document: number, labels: readonly string[], count: number) {
  return Array.from({ length: count }, (_, position) => ({
    ...{ id: `p${document}-${position}`, title: `d${document}`, headings: [], body: 'x', labels },
    vectors: { model, windows: [{ start: 0, end: 1, vector: randomUnitVector(dimensions, random) }] },
  }));
}
