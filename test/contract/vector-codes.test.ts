import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { writeNewFile } from '../../src/base/durable-files.ts';
import { type ArchiveMember, readArchive, writeArchive } from '../../src/storage/backup/archive.ts';
import { backUp, restore } from '../../src/storage/backup/backup.ts';
import { readManifest, writeManifest } from '../../src/storage/backup/manifest.ts';
import type { PassageFilter } from '../../src/storage/contracts/passages.ts';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { temporaryFolder } from '../support/backends.ts';
import {
  createTestDatabase,
  type PostgresServer,
  serverObstacle,
  startRealPostgres,
  type TestDatabase,
} from '../support/postgres.ts';
import { randomNumbers, randomUnitVector } from '../support/test-vectors.ts';

const dimensions = 16;
const documents = 300;
const model = 'test:codes';
const random = randomNumbers(3);

/** Issue 18: filters of any width; what they are answered from on PostgreSQL is a copy, which must never differ. */
describe('codes of vectors on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let database: TestDatabase;
  let storage: Storage;
  let client: Pool;
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    database = await createTestDatabase(server);
    storage = await createPostgresStorage({ url: database.url });
    client = new Pool({ connectionString: database.url });
  });
  after(async () => {
    await client.end();
    await storage.close();
    await database.drop();
    await server.stop();
  });

  const write = (document: number, labels: readonly string[], count = 10) =>
    storage.passages.replace([{ parent: `d${document}`, passages: passagesOf(document, labels, count) }]);
  const relabel = (document: number, label: string) =>
    client.query('UPDATE carrel.kb_passages SET labels = $2 WHERE parent = $1', [`d${document}`, [label]]);
  const modelNumber = async () =>
    Number((await client.query('SELECT key FROM carrel.kb_models WHERE name = $1', [model])).rows[0]?.key);
  const made = async (of = storage) => {
    while ((await of.vectors.kb.models())[0]?.index !== 'ready') {
      await of.vectors.kb.nearest?.({ model, query: randomUnitVector(dimensions, random), limit: 1 });
      await delay(20);
    }
  };
  /** Vectors without their code, codes without their vector, and codes that say something else than their passage. */
  const differences = async () => {
    const number = await modelNumber();
    const { rows } = await client.query(
      `SELECT v.key AS vector, c.key AS code FROM carrel.kb_vectors v JOIN carrel.kb_passages o ON o.key = v.owner
       FULL JOIN carrel.kb_codes_${number} c ON c.key = v.key
       WHERE v.key IS NULL OR c.key IS NULL OR c.parent <> o.parent OR c.code <> carrel.kb_code_${number}(v.vector)
         OR NOT EXISTS (SELECT 1 FROM carrel.kb_code_sets_${number} s WHERE s.labels = c.labels AND s.members = o.labels)`,
    );
    const listed = await client.query(
      `SELECT v.key, l.key AS listed FROM (SELECT v.key, c.labels, c.code, hashtextextended(m, 0) AS label FROM carrel.kb_vectors v
         JOIN carrel.kb_passages o ON o.key = v.owner JOIN carrel.kb_codes_${number} c ON c.key = v.key, unnest(o.labels) m) v
       FULL JOIN carrel.kb_codes_labels_${number} l ON l.key = v.key AND l.label = v.label AND l.labels = v.labels AND l.code = v.code
       WHERE v.key IS NULL OR l.key IS NULL`,
    );
    return [...rows, ...listed.rows];
  };

  test('are those of what is stored, while others add, label and delete as they are made, and afterwards', async () => {
    await storage.passages.replace(
      Array.from({ length: documents }, (_, document) => ({
        parent: `d${document}`,
        passages: passagesOf(document, [`l${document % 7}`, 'all'], 10),
      })),
    );
    let isMade = false;
    const lanes = [1, 2, 3].map(async (lane) => {
      for (let turn = 0; !isMade || turn < 20; turn += 1) {
        const document = (turn * 17 + lane * 97) % documents;
        if (turn % 3 === 0) await relabel(document, `l${turn % 5}`);
        else if (turn % 3 === 1) await storage.passages.remove([`d${document}`]);
        else await write(document, [`l${turn % 7}`], 5 + (turn % 5));
      }
    });
    await made();
    isMade = true;
    await Promise.all(lanes);
    assert.deepEqual(await differences(), []);
    await storage.passages.remove(['d1']);
    await relabel(2, 'other');
    await write(3, ['another']);
    await client.query("UPDATE carrel.kb_passages SET parent = 'moved' WHERE parent = 'd4'");
    assert.deepEqual(await differences(), []);
  });

  test('find what passes by its labels of now', async () => {
    await write(1, ['before'], 1_000);
    const found = async (label: string) => {
      const request = { model, query: randomUnitVector(dimensions, random), limit: 600, filter: { labels: [[label]] } };
      return new Set((await storage.vectors.kb.nearest?.(request))?.map(({ owner }) => owner)).size;
    };
    await client.query('ANALYZE carrel.kb_passages');
    assert.ok((await found('before')) >= 600);
    await relabel(1, 'since');
    assert.equal(await found('before'), 0);
    assert.ok((await found('since')) >= 600);
  });

  describe('of a label that many passages have', () => {
    /** As other processes, for which a label is large from here on. */
    const config = () => ({ url: database.url, wideLabelMin: 500 });
    const search = async (on: Storage, label: string, query = randomUnitVector(dimensions, random)) =>
      (await on.vectors.kb.nearest?.({ model, query, limit: 600, filter: { labels: [[label]] } })) ?? [];
    const registered = async (label: string) => {
      const rows = await client.query(
        `SELECT number, is_ready, left_at FROM carrel.kb_codes_wide_${await modelNumber()} WHERE label = hashtextextended($1, 0)`,
        [label],
      );
      return rows.rows[0];
    };
    const widened = async (on: Storage, label: string) => {
      await client.query('ANALYZE carrel.kb_passages');
      for (;;) {
        await search(on, label);
        const known = await registered(label).catch(() => undefined);
        if (known?.is_ready) return `carrel.kb_codes_wide_${await modelNumber()}_${known.number}`;
        await delay(20);
      }
    };
    /** A connection that has changed few passages before keeps plans for few, which take minutes for a thousand. */
    const updateMany = async (sql: string) => {
      const own = new Client({ connectionString: database.url });
      await own.connect();
      await own.query(sql);
      await own.end();
    };
    const copyDifferences = async (label: string, table: string) => {
      const { rows } = await client.query(
        `SELECT l.key, w.key AS copy FROM (SELECT * FROM carrel.kb_codes_labels_${await modelNumber()}
           WHERE label = hashtextextended($1, 0)) l
         FULL JOIN ${table} w ON w.key = l.key AND w.labels = l.labels AND w.code = l.code
         WHERE l.key IS NULL OR w.key IS NULL`,
        [label],
      );
      return rows;
    };

    test('are a table of their own once it is searched for, which stays right while others write', async () => {
      const other = await createPostgresStorage(config());
      let isMade = false;
      const lanes = [20, 60].map(async (first) => {
        for (let turn = 0; !isMade || turn < 30; turn += 1) {
          const document = first + (turn % 30);
          if (turn % 3 === 2) await storage.passages.remove([`d${document}`]);
          else await write(document, turn % 3 === 0 ? ['since', `l${turn % 5}`] : [`l${turn % 5}`]);
          await relabel(first + ((turn + 7) % 30), turn % 2 === 0 ? 'since' : 'l1');
        }
      });
      const table = await widened(other, 'since');
      isMade = true;
      await Promise.all(lanes);
      assert.deepEqual(await copyDifferences('since', table), []);
      await updateMany("UPDATE carrel.kb_passages SET labels = '{since,too}' WHERE parent IN ('d1', 'd21')");
      assert.deepEqual(await copyDifferences('since', table), []);
      for (let turn = 0; turn < 5; turn += 1) {
        const query = randomUnitVector(dimensions, random);
        assert.deepEqual(await search(other, 'since', query), await search(storage, 'since', query));
      }
      // What is not in the table is not found: it was the table that was read.
      await client.query(`TRUNCATE ${table}`);
      assert.deepEqual(await search(other, 'since'), []);
      await other.close();
    });

    test('are copied again where a process died over it', async () => {
      const before = await registered('since');
      await client.query(`UPDATE carrel.kb_codes_wide_${await modelNumber()} SET is_ready = false`);
      const other = await createPostgresStorage(config());
      const table = await widened(other, 'since');
      assert.deepEqual(await copyDifferences('since', table), []);
      assert.ok((await search(other, 'since')).length >= 600);
      assert.equal(
        (await client.query('SELECT to_regclass($1) AS it', [`${table.replace(/\d+$/, '')}${before.number}`])).rows[0]
          .it,
        null,
      );
      await other.close();
    });

    test('are copied, however long somebody writes to another database', { timeout: 60_000 }, async (context) => {
      const elsewhere = new Client({ connectionString: server.url });
      await elsewhere.connect();
      context.after(() => elsewhere.end());
      await elsewhere.query('BEGIN');
      await elsewhere.query('SELECT txid_current()');
      await client.query(`UPDATE carrel.kb_codes_wide_${await modelNumber()} SET is_ready = false`);
      const other = await createPostgresStorage(config());
      context.after(() => other.close());
      assert.deepEqual(await copyDifferences('since', await widened(other, 'since')), []);
    });

    test('are no table of their own any more when few passages have it', async () => {
      const other = await createPostgresStorage(config());
      const table = await widened(other, 'since');
      await updateMany("UPDATE carrel.kb_passages SET labels = '{few}' WHERE labels && '{since}'");
      await client.query(`VACUUM (ANALYZE) ${table}`);
      await write(5, ['second'], 600);
      await widened(other, 'second');
      // Somebody may be reading it.
      assert.ok((await registered('since')).left_at);
      await client.query(
        `UPDATE carrel.kb_codes_wide_${await modelNumber()} SET left_at = left_at - interval '6 minutes'`,
      );
      await write(6, ['third'], 600);
      await widened(other, 'third');
      assert.equal(await registered('since'), undefined);
      assert.equal((await client.query('SELECT to_regclass($1) AS it', [table])).rows[0].it, null);
      await other.close();
    });

    test('are found without their table when a process of an earlier version makes the codes anew', async (context) => {
      const other = await createPostgresStorage(config());
      context.after(() => other.close());
      const table = await widened(other, 'third');
      const all = `carrel.kb_codes_wide_${await modelNumber()}`;
      const expected = await search(storage, 'third', randomUnitVector(dimensions, randomNumbers(5)));
      await client.query(
        `DROP FUNCTION ${all}_added() CASCADE; DROP FUNCTION ${all}_removed() CASCADE; DROP TABLE ${all}, ${table}`,
      );
      assert.deepEqual(await search(other, 'third', randomUnitVector(dimensions, randomNumbers(5))), expected);
    });
  });

  test('are complete where a process of an earlier version, which lists none, has filled some in', async () => {
    const number = await modelNumber();
    await client.query(
      `DROP INDEX carrel.kb_codes_${number}_by_label; DELETE FROM carrel.kb_codes_labels_${number} WHERE key % 2 = 0`,
    );
    // That they are not there is noticed by whoever looks for the first time.
    const other = await createPostgresStorage({ url: database.url });
    await other.vectors.kb.nearest?.({ model, query: randomUnitVector(dimensions, random), limit: 1 });
    await made(other);
    await other.close();
    assert.deepEqual(await differences(), []);
  });

  test('find the ten nearest of what passes, with 0.99 and more of them right, whatever the filter asks', async (context) => {
    const own = await createTestDatabase(server);
    const [other, rows] = [await createPostgresStorage({ url: own.url }), new Pool({ connectionString: own.url })];
    const numbers = randomNumbers(11);
    const subjects = ['near', 'far'].map((name) => ({ name, vector: randomUnitVector(dimensions, numbers) }));
    const passages = Array.from({ length: 7_000 }, (_, number) => {
      const vector = randomUnitVector(dimensions, numbers);
      const [nearest] = subjects.toSorted((a, b) => product(b.vector, vector) - product(a.vector, vector));
      return {
        parent: `d${number % 100}`,
        labels: ['all', `half${number % 2}`, `fifth${number % 5}`, `${nearest?.name}`],
        vector,
      };
    });
    const documents = Object.entries(Object.groupBy(passages, ({ parent }) => parent)).map(([parent, parts = []]) => ({
      parent,
      passages: parts.map(({ labels, vector }, position) =>
        passageOf(`${parent}-${position}`, position, labels, vector),
      ),
    }));
    try {
      await other.passages.replace(documents);
      await made(other);
      const { rows: keys } = await rows.query('SELECT key, id FROM carrel.kb_passages');
      const ids = new Map(keys.map(({ key, id }) => [Number(key), String(id)]));
      const filters: (PassageFilter & { limit?: number })[] = [
        { labels: [['half1']] },
        // Of so many, what the codes gave is kept for the next time.
        { labels: [['all']], limit: 1 },
        { labels: [['near']] },
        { labels: [['fifth0', 'fifth1', 'half0']] },
        { labels: [['fifth0', 'fifth1', 'fifth2', 'fifth3'], ['half0']] },
        { labels: [['half0']], parents: Array.from({ length: 60 }, (_, at) => `d${at}`) },
      ];
      const findsRight = async (by: Storage, { limit = 10, ...filter }: (typeof filters)[number], share = 0.99) => {
        const passing = documents.flatMap(({ parent, passages: own }) =>
          own.filter(({ labels }) => passes(filter, parent, labels)),
        );
        let right = 0;
        for (let turn = 0; turn < 25; turn += 1) {
          const query = randomUnitVector(dimensions, numbers);
          const scored = passing.map(({ id, vectors }) => ({
            id,
            score: product(query, vectors.windows[0]?.vector ?? query),
          }));
          const best = scored.sort((a, b) => b.score - a.score).slice(0, limit);
          const found = (await by.vectors.kb.nearest?.({ model, query, limit, filter }))?.map(({ owner }) =>
            ids.get(owner),
          );
          assert.equal(new Set(found).size, found?.length, 'each once');
          right += best.filter(({ id }) => found?.slice(0, limit).includes(id)).length;
        }
        assert.ok(right >= share * 25 * limit, `${right} of ${25 * limit} with ${JSON.stringify(filter)}`);
      };
      for (const filter of filters) await findsRight(other, filter);
      const wide = await createPostgresStorage({ url: own.url, wideLabelMin: 1_000 });
      context.after(() => wide.close());
      const ready = 'SELECT 1 FROM carrel.kb_codes_wide_1 WHERE is_ready';
      const large = ['half1', 'all'].map((label) => ({ labels: [[label]] }));
      for (let tables = 0; tables < large.length; await delay(20)) {
        const query = randomUnitVector(dimensions, random);
        for (const filter of large) await wide.vectors.kb.nearest?.({ model, query, limit: 10, filter });
        tables = (await rows.query(ready).catch(() => ({ rows: [] }))).rows.length;
      }
      // Another sample in each search bounds what is put in order, and codes of 16 numbers tell less than those of hundreds.
      for (const filter of large) await findsRight(wide, filter, 0.95);
      // What is not among the codes is not found: it was they that were asked.
      await rows.query("DELETE FROM carrel.kb_codes_labels_1 WHERE label = hashtextextended('half1', 0)");
      const query = randomUnitVector(dimensions, numbers);
      assert.deepEqual(await other.vectors.kb.nearest?.({ model, query, limit: 10, filter: filters[0] }), []);
    } finally {
      await rows.end();
      await other.close();
      await own.drop();
    }
  });

  test('are no part of a backup', async () => {
    const [folder, target] = [temporaryFolder(), await createTestDatabase(server)];
    const place = (url: string) => ({ storage: { backend: 'postgres' as const, url }, originals: folder });
    const quiet = { force: false, onProgress: () => {} };
    await backUp(place(database.url), `${folder}/codes.tar`, quiet);
    const { tables } = await restore(place(target.url), `${folder}/codes.tar`, quiet);
    assert.deepEqual(
      tables.filter(({ name }) => name.startsWith('kb_code')),
      [],
    );
    await writeNewFile(`${folder}/earlier.tar`, writeArchive(withLists(`${folder}/codes.tar`)));
    await restore(place(target.url), `${folder}/earlier.tar`, { ...quiet, force: true });
    await target.drop();
  });

  test('go with their model, and nothing of them stays', async () => {
    await storage.vectors.kb.drop(model);
    const { rows } = await client.query(
      `SELECT relname AS name FROM pg_class WHERE relname LIKE 'kb_code%' UNION ALL
       SELECT proname FROM pg_proc WHERE proname LIKE 'kb_code%' UNION ALL
       SELECT tgname FROM pg_trigger WHERE tgname LIKE 'kb_code%'`,
    );
    assert.deepEqual(rows, []);
  });
});

/** As a program of an earlier version backs up, which does not know what the lists are. */
async function* withLists(file: string): AsyncGenerator<ArchiveMember> {
  let isFirst = true;
  for await (const member of readArchive(file)) {
    if (!isFirst) yield member;
    else {
      const manifest = await readManifest(member);
      const lists = { name: 'kb_codes_labels_1', rows: 1, columns: ['label', 'key', 'labels', 'code'] };
      yield writeManifest({ ...manifest, tables: [lists, ...manifest.tables] });
      const row = Buffer.from('1\t1\t1\t101\n');
      yield { name: 'tables/kb_codes_labels_1/000000', size: row.length, content: [row] };
    }
    isFirst = false;
  }
}

function passagesOf(document: number, labels: readonly string[], count: number) {
  return Array.from({ length: count }, (_, position) =>
    passageOf(`p${document}-${position}`, position, labels, randomUnitVector(dimensions, random)),
  );
}

function passageOf(id: string, position: number, labels: readonly string[], vector: Float32Array) {
  return {
    ...{ id, position, title: '', headings: [], body: 'x', labels },
    vectors: { model, windows: [{ start: 0, end: 1, vector }] },
  };
}

function passes({ labels = [], parents }: PassageFilter, parent: string, own: readonly string[]): boolean {
  return (parents?.includes(parent) ?? true) && labels.every((group) => group.some((label) => own.includes(label)));
}

function product(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, number, at) => sum + number * (other[at] ?? 0), 0);
}
