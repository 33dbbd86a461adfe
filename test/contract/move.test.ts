import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, test } from 'node:test';
import pg from 'pg';
import { type BackupLocation, type BackupReport, backUp, restore } from '../../src/storage/backup/backup.ts';
import { copyLine, copyRows } from '../../src/storage/backup/postgres/copy-text.ts';
import type { StoredRow } from '../../src/storage/backup/rows.ts';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { type Backend, onBothBackends, temporaryFolder } from '../support/backends.ts';
import { rewriteBackup } from '../support/rewrite-backup.ts';
import { contentOf, fillStorage } from '../support/stored-content.ts';

const quiet = { force: false, onProgress: () => {} };

// Contract §9: "carrel backup <file> / restore (also into the other database)". The clauses are in docs/backup.md.
onBothBackends('a backup of one database, restored into the other', (sqlite, postgres) => {
  const folder = temporaryFolder();
  let count = 0;
  const archive = () => {
    count += 1;
    return join(folder, `${count}.tar`);
  };
  /** Every database has a separate data folder. */
  const placeIn = async (backend: Backend): Promise<BackupLocation> => {
    const storage = await backend.newLocation();
    count += 1;
    const data = join(folder, `data-${count}`);
    mkdirSync(data);
    const originals = join(data, 'documents');
    return { storage: storage.backend === 'sqlite' ? { ...storage, documentsDir: originals } : storage, originals };
  };
  const moved = async (from: BackupLocation, to: BackupLocation) => {
    const file = archive();
    await backUp(from, file, quiet);
    return restore(to, file, quiet);
  };

  test('an entry with more distinct words than a tsvector holds is found by its first words, until it is changed', async () => {
    const [source, middle, end] = [await placeIn(sqlite), await placeIn(postgres), await placeIn(sqlite)];
    const words = Array.from({ length: 9_000 }, (_, index) => `q${index.toString(36)}${'я'.repeat(58)}`);
    const text = `heron ${words.join(' ')}`;
    const id = await use(source.storage, async ({ entries }) => {
      const [stored] = await entries.store({ entries: [{ ...oneEntry, text }] });
      return stored?.id ?? 0;
    });
    const found = async ({ entries }: Storage, query: string) => {
      const asked = { query: plainQuery(query), filter: {}, limit: 5, offset: 0, explain: false };
      return (await entries.searchWords(asked)).hits.map((hit) => hit.id);
    };
    await moved(source, middle);
    await moved(middle, end);
    await use(end.storage, async (storage) => assert.deepEqual(await found(storage, 'heron'), [id]));
    await use(middle.storage, async (storage) => {
      assert.deepEqual(await found(storage, 'heron'), [id]);
      assert.deepEqual(await found(storage, `heron ${words[0]} nowhere`), [id]);
      assert.deepEqual(await storage.check(), []);
      await storage.entries.update({ allOrNothing: true, updates: [{ id, text: 'a bittern' }] });
      assert.deepEqual(await found(storage, 'heron'), []);
      assert.deepEqual(await found(storage, 'bittern'), [id]);
      assert.deepEqual(await storage.check(), []);
    });
  });

  for (const [from, to, fromTables, toTables] of [
    [sqlite, postgres, sqliteTables, postgresTables],
    [postgres, sqlite, postgresTables, sqliteTables],
  ] as const) {
    describe(`${from.name} to ${to.name}`, () => {
      let [source, target]: BackupLocation[] = [];
      let content: Awaited<ReturnType<typeof answersOf>>;
      let report: BackupReport;
      before(async () => {
        [source, target] = [await placeIn(from), await placeIn(to)];
        content = await use(source.storage, async (storage) => {
          await fillMore(storage);
          return answersOf(storage);
        });
        report = await moved(source, target);
      });

      test('and back: every table, answer, number and original is the same', async () => {
        assert.ok(source && target);
        const rows = new Map(report.moved?.tables.map((table) => [table.name, table.rows]));
        assert.deepEqual([rows.get('notes'), rows.get('context_vectors'), report.moved?.originals], [5, 1, 1]);
        const end = await placeIn(from);
        await moved(target, end);
        assert.deepEqual(await fromTables(end), await fromTables(source));
        await use(end.storage, async (storage) => {
          assert.deepEqual(await answersOf(storage), content);
          await fillStorage(storage, 1);
          assert.deepEqual(await storage.check(), []);
        });
        await use(target.storage, async (storage) => {
          assert.deepEqual(await answersOf(storage), content);
          assert.deepEqual(await storage.check(), []);
          // Ids of removed rows are not reused.
          const [entry] = await storage.entries.store({ entries: [oneEntry] });
          assert.equal(entry?.id, content.nextEntry);
        });
      });

      test('replaces content only by a valid backup and with --force, and then all of it', async () => {
        assert.ok(source && target);
        const other = { title: 'not in the backup', content: 'lighthouse', tags: [], sourceUrls: [] };
        await use(target.storage, ({ notes }) => notes.save(other));
        const former = await toTables(target);
        assert.ok([...former.keys()].length > 25);
        const [file, forged] = [archive(), archive()];
        await backUp(source, file, quiet);
        // Its rows differ from its manifest.
        await rewriteBackup(file, forged, (manifest) => ({
          ...manifest,
          tables: manifest.tables.map((table) => (table.name === 'notes' ? { ...table, rows: 1 } : table)),
        }));
        await assert.rejects(restore(target, file, quiet), { code: 'storage_not_empty' });
        await assert.rejects(restore(target, forged, { ...quiet, force: true }), { code: 'invalid_backup' });
        assert.deepEqual(await toTables(target), former);
        // The leftovers of a killed restore.
        if (to.name === 'sqlite') writeFileSync(join(target.originals, `${'0'.repeat(64)}.999999999.tmp`), 'half');
        await restore(target, file, { ...quiet, force: true });
        await use(target.storage, async (storage) => assert.deepEqual(await answersOf(storage), content));
        assert.deepEqual(
          readdirSync(join(target.originals, '..'), { recursive: true }).filter((name) => name.includes('.tmp')),
          [],
        );
      });
    });
  }
});

test('rows of any content survive the conversion to lines and back', async () => {
  const kinds = ['text', 'number', 'list', 'bytes', 'vector', 'text'] as const;
  const vector = (...numbers: number[]) => Buffer.from(new Float32Array(numbers).buffer);
  const rows: StoredRow[] = [
    ['plain', 1.5, ['a', 'b'], Buffer.from([0, 92, 255]), vector(0.1, -0, 3e38, 1e-45), null],
    [
      'tab\t line\n\r back\\slash \\N \\.',
      -7,
      ['', 'a,b', '"q"', '\\', '{}', 'NULL', 'null', ' x '],
      Buffer.alloc(0),
      vector(),
      '\\N',
    ],
    ['', 2 ** 53 - 1, [], Buffer.alloc(3), vector(1), '港 😀'],
  ];
  const lines = Buffer.from(rows.map((row) => copyLine(row, kinds)).join(''));
  for (const size of [1, 7, 1000]) {
    const chunks = Array.from({ length: Math.ceil(lines.length / size) }, (_, at) =>
      lines.subarray(at * size, (at + 1) * size),
    );
    const found: StoredRow[] = [];
    for await (const row of copyRows(chunks, kinds)) found.push(row);
    assert.deepEqual(plain(found), plain(rows));
  }
});

const oneEntry = {
  source: 'user',
  ...{ threadId: 't', metadata: undefined, summary: undefined, tags: [], images: [] },
  text: 'after the move',
} as const;

/** Adds changed and removed data: history, unused ids, finished jobs. */
async function fillMore(storage: Storage): Promise<void> {
  await fillStorage(storage, 4);
  await storage.vectors.kb.choose({ model: 'm' });
  const [waiting] = await storage.vectors.kb.waiting({ model: 'm', limit: 1 });
  if (waiting !== undefined) {
    const { owner, textHash } = waiting;
    const windows = [{ start: 0, end: 4, vector: new Float32Array([0.1, -0.25, 1e-30]) }];
    await storage.vectors.kb.put({ model: 'm', texts: [{ owner, textHash, windows }] });
  }
}

async function answersOf(storage: Storage) {
  const page = { limit: 50, offset: 0 };
  const searched = await storage.passages.search({ query: plainQuery('passage harbour 2'), ...page });
  const all = await storage.entries.list({ filter: {}, ...page, images: false, explain: false });
  return {
    content: plain(await contentOf(storage)),
    searched,
    nextEntry:
      Math.max(
        ...(JSON.stringify(all)
          .match(/"id":"?0*(\d+)/g)
          ?.map((id) => Number(id.replace(/\D/g, ''))) ?? [0]),
      ) + 1,
  };
}

async function use<T>(config: StorageLocation, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(config);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

/** The drivers return bytes in arrays of different classes. */
function plain(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

/** A hash of each table's rows, read without our code. Blocks of vectors are packed when there are many. */
async function sqliteTables({ storage, originals }: BackupLocation): Promise<Map<string, string>> {
  assert(storage.backend === 'sqlite');
  const database = new DatabaseSync(storage.path, { readOnly: true });
  const names = database
    .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !/^sqlite_(?!sequence)|_vector_blocks$/.test(name));
  const tables = new Map(
    names.map((name) => {
      const given = name === 'sqlite_sequence' ? 'WHERE seq > 0' : '';
      const rows = database.prepare(`SELECT * FROM ${name} ${given}`).all();
      const lines = rows.map((row) =>
        JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? [...value] : value)),
      );
      return [name, hashOf(lines.sort().join('\n'))];
    }),
  );
  database.close();
  for (const name of readdirSync(originals).sort()) {
    if (name !== 'incoming') tables.set(name, hashOf(readFileSync(join(originals, name))));
  }
  return tables;
}

async function postgresTables({ storage }: BackupLocation): Promise<Map<string, string>> {
  assert(storage.backend === 'postgres');
  const client = new pg.Client({ connectionString: storage.url });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'carrel'::regnamespace AND relkind = 'r' ORDER BY 1",
  );
  const tables = new Map<string, string>();
  for (const { name } of rows) {
    const what =
      name === 'word_statistics'
        ? 'word_index, sum(documents), sum(title_length), sum(heading_length), sum(body_length)'
        : name.startsWith('kb_original')
          ? name === 'kb_originals'
            ? 'hash, bytes'
            : 'sum(length(data))'
          : '*';
    const found = await client.query(
      `SELECT md5(string_agg(r::text, E'\\n' ORDER BY r::text COLLATE "C")) AS sum FROM (SELECT ${what} FROM carrel.${name} ${name === 'word_statistics' ? 'GROUP BY 1' : ''}) r`,
    );
    tables.set(name, String(found.rows[0]?.sum));
  }
  const indexes = await client.query<{ definition: string }>(
    "SELECT indexdef AS definition FROM pg_indexes WHERE schemaname = 'carrel' AND indexname !~ '_nearest_' ORDER BY 1",
  );
  tables.set('indexes', indexes.rows.map(({ definition }) => definition).join('\n'));
  await client.end();
  return tables;
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
