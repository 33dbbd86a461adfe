import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { asCaller } from '../../src/base/current-caller.ts';
import { type ErrorCode, isCarrelError } from '../../src/base/errors.ts';
import { textHash } from '../../src/base/text-hash.ts';
import type { NewEntry } from '../../src/storage/entries/entry.ts';
import { findForeignObjects } from '../../src/storage/open-storage.ts';
import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { connectAlone } from '../../src/storage/postgres/connections/servers.ts';
import type { Connection } from '../../src/storage/postgres/connections/transaction.ts';
import { noTimeouts } from '../../src/storage/postgres/connections/transaction.ts';
import { lockKey, migrate, schemaVersion } from '../../src/storage/postgres/migrate.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { newestSchema } from '../../src/storage/schema/schema-version.ts';
import type { Storage } from '../../src/storage/storage.ts';
import {
  createPlainDatabase,
  createTestDatabase,
  type PostgresServer,
  serverObstacle,
  startOwnPostgres,
} from '../support/postgres.ts';

/** Whether a connection has waited for a lock for longer than the search timeout. */
const longWaiting =
  "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND age(now(), waitstart) > '400ms'";

describe('a PostgreSQL that misbehaves', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let url: string;

  before(async () => {
    const started = await startOwnPostgres();
    assert.ok(typeof started !== 'string');
    server = started;
    url = (await createTestDatabase(server)).url;
  });
  after(() => server?.stop());

  test('T151: eight servers that start at once on an empty database all serve it', async () => {
    const storages = await Promise.all(Array.from({ length: 8 }, () => createPostgresStorage({ url })));
    await Promise.all(storages.map((storage) => save(storage)));
    assert.equal((await storages[0]?.notes.list({ limit: 1, offset: 0 }))?.total, 8);
    assert.deepEqual(await storages[0]?.check(), []);
    for (const storage of storages) await storage.close();
  });

  test('rejects a newer schema', async () => {
    const other = await createTestDatabase(server);
    await (await createPostgresStorage({ url: other.url })).close();
    await run(other.url, 'UPDATE carrel.schema_version SET version = 99');
    await fails(createPostgresStorage({ url: other.url }), 'storage_newer');
    await other.drop();
  });

  test('rejects a schema from before the first release, and leaves it alone', async () => {
    const other = await createTestDatabase(server);
    await (await createPostgresStorage({ url: other.url })).close();
    const connections = createConnections({ url: other.url });
    for (const version of [1, 4, 7]) {
      await run(other.url, `UPDATE carrel.schema_version SET version = ${version}`);
      const error = await fails(createPostgresStorage({ url: other.url }), 'storage_older');
      assert.match(error.message, /carrel export.*carrel import/);
      assert.equal(await connections.read(schemaVersion), version);
    }
    await connections.close();
    await other.drop();
  });

  test('a failed migration step keeps the steps before it', async () => {
    const other = await createTestDatabase(server);
    const connections = createConnections({ url: other.url });
    const first = 'CREATE TABLE carrel.one (x integer)';
    await assert.rejects(migrate(connections, [first, 'CREATE TABLE carrel.two (x integer); SELECT none']));
    assert.equal(await connections.read(schemaVersion), newestSchema);
    await migrate(connections, [first, 'CREATE TABLE carrel.two (x integer)']);
    assert.equal(await connections.read(schemaVersion), newestSchema + 1);
    await connections.close();
    await other.drop();
  });

  test('a new database has only our objects; foreign additions and changes are named', async () => {
    const other = await createTestDatabase(server);
    const location = { backend: 'postgres', url: other.url } as const;
    await (await createPostgresStorage(location)).close();
    assert.deepEqual(await findForeignObjects(location), []);
    await run(
      other.url,
      `CREATE FUNCTION carrel.on_token() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.rights = '{}'; RETURN NEW; END $$;
       CREATE TRIGGER on_token BEFORE INSERT ON carrel.access_tokens FOR EACH ROW EXECUTE FUNCTION carrel.on_token();
       CREATE OR REPLACE FUNCTION carrel.kb_vectors_labelled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
       CREATE VIEW carrel.extra AS SELECT 1;
       CREATE RULE nothing AS ON DELETE TO carrel.notes DO INSTEAD NOTHING`,
    );
    assert.deepEqual(await findForeignObjects(location), [
      ...['function kb_vectors_labelled', 'function on_token', 'rule nothing', 'trigger on_token', 'view extra'],
    ]);
    await other.drop();
  });

  test('long calls of one caller leave connections to others', async () => {
    const connections = createConnections({ url });
    const ending = new AbortController();
    const isLong = (on: Connection) => on.query('SELECT pg_sleep(4)');
    const flood = Array.from({ length: 100 }, () =>
      asCaller('a', () => connections.read(isLong, { signal: ending.signal })),
    );
    let isFloodOver = false;
    const first = Promise.race(flood).finally(() => {
      isFloodOver = true;
    });
    const ended = Promise.allSettled([...flood, first]);
    await asCaller('b', () => connections.read((on) => on.query('SELECT 1')));
    assert.equal(isFloodOver, false, 'it waited for a call of the other');
    ending.abort();
    await ended;
    await connections.close();
  });

  test('a wrong password is a configuration error, and is not in the message', async () => {
    const wrong = new URL(url);
    wrong.password = 'sEcReT-word';
    const error = await fails(createPostgresStorage({ url: wrong.href }), 'invalid_config');
    assert.equal(error.message.includes('sEcReT'), false);
  });

  test('an unreachable address is reported as unavailable', async () => {
    await fails(createPostgresStorage({ url: 'postgres://carrel@127.0.0.1:1/none' }), 'unavailable');
  });

  test('a failed search gets no further connections, and disturbs no others', async () => {
    const connections = createConnections({ url, connectionsMax: 1 });
    await connections.write((on) => on.query('CREATE TABLE carrel.held (x integer)'));
    const [failed, held] = [new Error('nothing of the database'), Promise.withResolvers<void>()];
    const late = Promise.withResolvers<unknown>();
    const searching = connections.read(async (on) => {
      await on.query('SELECT 1');
      held.promise.then(() => on.query('SELECT 2')).then(late.reject, late.resolve);
      throw failed;
    });
    await assert.rejects(searching, failed);
    const writing = connections.write(async (on) => {
      await on.query('INSERT INTO carrel.held VALUES (1)');
      held.resolve();
      assert.match(String(await late.promise), /has ended/);
      throw failed;
    });
    await assert.rejects(writing, failed);
    assert.deepEqual(await connections.write((on) => on.query('SELECT x FROM carrel.held')), []);
    await connections.write((on) => on.query('DROP TABLE carrel.held'));
    await connections.close();
  });

  test('a write waits for others longer than a search may take, and then names them as the cause', async () => {
    const storage = await createPostgresStorage({ url, queryTimeoutMs: 200, lockTimeoutMs: 1_000 });
    const holder = new Client({ connectionString: url });
    await holder.connect();
    const lock = `hashtextextended('threads ${textHash('busy').slice(0, 2)}', 0)`;
    await holder.query(`SELECT pg_advisory_lock(${lock})`);
    const entry = {
      ...{ threadId: 'busy', source: 'user' as const, text: 'x', metadata: undefined, tags: [], images: [] },
      summary: undefined,
    };
    await fails(storage.entries.store({ entries: [entry] }), 'storage_busy');
    const patient = await createPostgresStorage({ url, queryTimeoutMs: 200, lockTimeoutMs: 60_000 });
    const storing = patient.entries.store({ entries: [entry] });
    let hasFailed = false;
    storing.catch(() => {
      hasFailed = true;
    });
    while (!hasFailed && (await holder.query(longWaiting)).rowCount === 0) await delay(20);
    await holder.query(`SELECT pg_advisory_unlock(${lock})`);
    assert.equal((await storing).length, 1);
    await holder.end();
    await Promise.all([storage.close(), patient.close()]);
  });

  test('a starting program waits for another that is changing the schema, however long it takes', async () => {
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [lockKey]);
    const starting = createPostgresStorage({ url, lockTimeoutMs: 100 });
    let hasFailed = false;
    starting.catch(() => {
      hasFailed = true;
    });
    while (!hasFailed && (await holder.query(longWaiting)).rowCount === 0) await delay(20);
    await holder.query('SELECT pg_advisory_unlock($1)', [lockKey]);
    await holder.end();
    await (await starting).close();
  });

  test('docs/backup.md: long operations end soon after their program is killed', async () => {
    const connections = createConnections({ url });
    const asked = (statements: Connection) => statements.query('SHOW client_connection_check_interval');
    assert.deepEqual(await connections.write(asked, { isLong: true }), [{ client_connection_check_interval: '1s' }]);
    assert.deepEqual(await connections.write(asked), [{ client_connection_check_interval: '0' }]);
    await connections.close();
    const { client: restoring } = await connectAlone({ url });
    await restoring.query(`BEGIN; ${noTimeouts}`);
    restoring.on('error', () => {});
    const lost = assert.rejects(restoring.query('SELECT pg_sleep(600)'));
    const observer = new Client({ connectionString: url });
    await observer.connect();
    const sleeping = async () =>
      (await observer.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'")).rowCount;
    while ((await sleeping()) === 0) await delay(20);
    restoring.connection.stream.destroy();
    await lost;
    while ((await sleeping()) !== 0) await delay(50);
    await observer.end();
  });

  test('the server stops a query at its timeout, and the message fits a search or a write', async () => {
    const connections = createConnections({ url, queryTimeoutMs: 50, lockTimeoutMs: 50 });
    const sleeps = (statements: Connection) => statements.query('SELECT pg_sleep(30)');
    const { message } = await fails(connections.read(sleeps), 'query_timeout');
    assert.match(message, /^The search took too long/);
    assert.match((await fails(connections.write(sleeps), 'query_timeout')).message, /nothing was changed/);
    assert.deepEqual(await connections.read((statements) => statements.query('SELECT 1 AS one')), [{ one: 1 }]);
    await connections.close();
  });

  test('a read is bounded and sees one state; a failed one returns its connection', async () => {
    const other = await createTestDatabase(server);
    const connections = createConnections({ url: other.url, connectionsMax: 1, queryTimeoutMs: 1234 });
    await connections.write((statements) =>
      statements.query('CREATE SCHEMA carrel; CREATE TABLE carrel.seen (x integer)'),
    );
    const state = "SELECT count(*)::integer AS count, current_setting('statement_timeout') AS bound FROM seen";
    const states = await connections.read(async (statements) => {
      const [first] = await statements.query(state);
      await run(other.url, 'INSERT INTO carrel.seen VALUES (1)');
      return [first, ...(await statements.query(state))];
    });
    assert.deepEqual(states, [
      { count: 0, bound: '1234ms' },
      { count: 0, bound: '1234ms' },
    ]);
    await assert.rejects(connections.read((statements) => statements.query('SELECT 1 / 0 AS one')));
    assert.deepEqual(await connections.read((statements) => statements.query(state)), [{ count: 1, bound: '1234ms' }]);
    assert.equal(connections.count().open, 1);
    await connections.close();
    await other.drop();
  });

  test('pipelined statements of a read are answered separately, and a failure fails those after it', async () => {
    const connections = createConnections({ url, connectionsMax: 1 });
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    for (let time = 0; time < 3; time += 1) {
      const rows = await connections.read((statements) =>
        Promise.all(numbers.map((number) => statements.query('SELECT $1::integer AS n, NULL AS none', [number]))),
      );
      assert.deepEqual(
        rows,
        numbers.map((n) => [{ n, none: null }]),
      );
      const [before, unwritable, failed, behind] = await connections.read((statements) =>
        Promise.allSettled([
          statements.query("SELECT 'a' AS a UNION ALL SELECT 'b' ORDER BY a"),
          statements.query('SELECT $1::text', [circular]),
          statements.query('SELECT 1 / $1::integer AS n', [0]),
          statements.query('SELECT 2 AS n'),
        ]),
      );
      assert.deepEqual(before, { status: 'fulfilled', value: [{ a: 'a' }, { a: 'b' }] });
      assert.ok(unwritable?.status === 'rejected' && unwritable.reason instanceof Error);
      assert.ok(failed?.status === 'rejected' && failed.reason.code === '22012', String(failed));
      assert.ok(behind?.status === 'rejected' && behind.reason.code === '25P02', String(behind));
    }
    assert.equal(connections.count().open, 1);
    await connections.close();
  });

  test('prepared statements survive a changed table and a pooler that switches connections', async () => {
    const other = await createTestDatabase(server);
    const connections = createConnections({ url: other.url, connectionsMax: 1 });
    await connections.write((statements) =>
      statements.query('CREATE SCHEMA carrel; CREATE TABLE carrel.kept (x integer)'),
    );
    const read = () => connections.read((statements) => statements.query('SELECT * FROM kept WHERE x > $1', [0]));
    const kept = () =>
      connections.read((statements) =>
        statements.query('SELECT name FROM pg_prepared_statements WHERE name <> $1', ['']),
      );
    for (let time = 0; time < 3; time += 1) assert.deepEqual(await read(), []);
    assert.equal((await kept()).length, 1);
    await run(other.url, 'ALTER TABLE carrel.kept ADD COLUMN y integer; INSERT INTO carrel.kept VALUES (1, 2)');
    for (let time = 0; time < 3; time += 1) assert.deepEqual(await read(), [{ x: 1, y: 2 }]);
    await run(other.url, 'ALTER TABLE carrel.kept ADD COLUMN z integer');
    await connections.read(async (statements) => {
      const named = "statement LIKE 'SELECT * FROM kept%' AND name LIKE 'carrel_1%'";
      const [row] = await statements.query(`SELECT name FROM pg_prepared_statements WHERE ${named}`);
      const name = String(row?.['name']);
      await statements.query(`DEALLOCATE ${name}; PREPARE ${name} AS SELECT * FROM kept WHERE x > $1`);
    });
    for (let time = 0; time < 3; time += 1) assert.deepEqual(await read(), [{ x: 1, y: 2, z: null }]);
    await connections.read((statements) => statements.query('DEALLOCATE ALL'));
    for (let time = 0; time < 3; time += 1) assert.deepEqual(await read(), [{ x: 1, y: 2, z: null }]);
    assert.deepEqual(await kept(), []);
    await connections.close();
    await other.drop();
  });

  test('an aborted call returns at once', async () => {
    const connections = createConnections({ url });
    const controller = new AbortController();
    const given = connections.read((statements) => statements.query('SELECT pg_sleep(3)'), {
      signal: controller.signal,
    });
    setImmediate(() => controller.abort(new Error('given up')));
    await assert.rejects(given, { code: 'cancelled' });
    await connections.close();
  });

  test('retries conflicting transactions until both succeed', async () => {
    await run(url, 'CREATE TABLE carrel.counter AS SELECT 0 AS value');
    const connections = createConnections({ url });
    const increase = () =>
      connections.write(async (statements) => {
        await statements.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE');
        const [row] = await statements.query('SELECT value FROM carrel.counter');
        await statements.query('UPDATE carrel.counter SET value = $1', [Number(row?.['value']) + 1]);
      });
    await Promise.all(Array.from({ length: 4 }, increase));
    const [row] = await connections.read((statements) => statements.query('SELECT value FROM carrel.counter'));
    assert.equal(row?.['value'], 4);
    await connections.close();
  });

  test('concurrent index changes of two processes are serialized', async () => {
    const storages = await Promise.all([createPostgresStorage({ url }), createPostgresStorage({ url })]);
    await storages[0]?.entries.store({ entries: [entry] });
    const comeAndGo = async (storage: Storage, model: string) => {
      const { context } = storage.vectors;
      await context.choose({ model });
      const waiting = await context.waiting({ model, limit: 10 });
      const windows = [{ start: 0, end: 6, vector: new Float32Array([1, 0]) }];
      // The first vectors of a model start its index.
      await context.put({ model, texts: waiting.map(({ owner, textHash }) => ({ owner, textHash, windows })) });
      await context.drop(model);
    };
    const lanes = storages.flatMap((storage, index) =>
      ['a', 'b', 'c'].map((lane) => ({ storage, name: index + lane })),
    );
    await Promise.all(
      lanes.map(async ({ storage, name }) => {
        for (const round of [1, 2, 3]) await comeAndGo(storage, `${name}${round}`);
      }),
    );
    for (const storage of storages) await storage.close();
    const left = await run(url, "SELECT relname FROM pg_class WHERE relname LIKE '%vectors_nearest_%'");
    assert.deepEqual(left, []);
  });

  test('a read-only server keeps answering reads, and gets writes again later', async () => {
    const storage = await createPostgresStorage({ url });
    const name = new URL(url).pathname.slice(1);
    await run(server.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    // Open connections still have the old setting.
    await run(server.url, endConnections(name));
    await fails(save(storage), 'storage_read_only');
    const { total } = await storage.notes.list({ limit: 1, offset: 0 });
    await run(server.url, `ALTER DATABASE ${name} RESET ALL`);
    // Connections keep the setting from when they were opened; only older ones are closed.
    while (!(await save(storage).catch((error) => assert.equal(error.code, 'storage_read_only')))) await delay(50);
    assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, total + 1);
    await storage.close();
  });

  test('connections killed under load fail no search, lose nothing acknowledged and save nothing twice', async () => {
    const other = await createTestDatabase(server);
    const storage = await createPostgresStorage({ url: other.url });
    const name = new URL(other.url).pathname.slice(1);
    let stop = false;
    const acknowledged: string[] = [];
    const uncertain: string[] = [];
    const writers = Array.from({ length: 4 }, async (_, lane) => {
      for (let number = 0; !stop; number += 1) {
        const title = `${lane} ${number}`;
        await storage.notes.save({ ...note, title }).then(
          () => acknowledged.push(title),
          (error) => {
            assert.ok(isCarrelError(error) && error.code === 'unavailable', String(error));
            uncertain.push(title);
          },
        );
      }
    });
    const readers = Array.from({ length: 4 }, async () => {
      while (!stop) await storage.notes.list({ limit: 1, offset: 0 });
    });
    for (let round = 1; round <= 3; round += 1) {
      while (acknowledged.length < 20 * round) await Promise.race([delay(5), ...writers, ...readers]);
      await run(server.url, endConnections(name));
    }
    stop = true;
    await Promise.all([...writers, ...readers]);
    const titles = (await run(other.url, 'SELECT title FROM carrel.notes')).map(
      (row) => (row as { title: string }).title,
    );
    assert.equal(new Set(titles).size, titles.length);
    const without = (list: readonly string[], others: readonly string[]) => {
      const known = new Set(others);
      return list.filter((title) => !known.has(title));
    };
    assert.deepEqual(without(acknowledged, titles), []);
    assert.deepEqual(without(titles, [...acknowledged, ...uncertain]), []);
    await storage.close();
    await other.drop();
  });

  test('if connections run out, calls wait for their own program, and report others as the cause', async (context) => {
    const plain = await createPlainDatabase(server);
    if (plain === undefined) return context.skip('the server lets nobody create users');
    const { username } = new URL(plain.url);
    await run(server.url, `ALTER ROLE ${username} CONNECTION LIMIT 2`);
    const connections = createConnections({ url: plain.url, connectTimeoutMs: 10_000 });
    await Promise.all(
      Array.from({ length: 12 }, () => connections.read((statements) => statements.query('SELECT pg_sleep(0.02)'))),
    );
    await connections.close();
    const hasty = createConnections({ url: plain.url, connectTimeoutMs: 1_000 });
    const ask = () => hasty.read((statements) => statements.query('SELECT 1'));
    const others = [await connected(plain.url), await connected(plain.url)];
    const error = await fails(ask(), 'unavailable');
    assert.match(error.message, /max_connections/);
    for (const client of others) await client.end();
    await ask();
    await hasty.close();
    await plain.drop();
  });

  test('distinguishes a full or unreadable server from an unresponsive one', async () => {
    const connections = createConnections({ url });
    const raise = (code: string) =>
      connections.write((statements) =>
        statements.query(`DO $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '${code}'; END $$`),
      );
    assert.match((await fails(raise('53200'), 'unavailable')).message, /out of memory.*max_locks_per_transaction/);
    for (const code of ['53000', '53400'])
      assert.match((await fails(raise(code), 'unavailable')).message, /its limits/);
    assert.match((await fails(raise('53100'), 'storage_full')).message, /disk/);
    for (const code of ['58030', '58P01'])
      assert.match((await fails(raise(code), 'unavailable')).message, /its files.*log/);
    await connections.close();
  });

  test('a silent server does not block its callers', async (context) => {
    if (server.restart === undefined) return context.skip('the server is not ours to stop');
    const connections = createConnections({ url, connectionsMax: 1, queryTimeoutMs: 500, silenceMs: 500 });
    const pid = () => connections.read((statements) => statements.query('SELECT pg_backend_pid() AS pid'));
    const [row] = await pid();
    process.kill(Number(row?.['pid']), 'SIGSTOP');
    try {
      await fails(pid(), 'unavailable');
    } finally {
      process.kill(Number(row?.['pid']), 'SIGCONT');
    }
    assert.notDeepEqual(await pid(), [row]);
    await connections.close();
  });

  test('T153: a server killed and restarted under load loses nothing acknowledged, and calls continue', async (context) => {
    if (server.restart === undefined) return context.skip('the server is not ours to kill');
    const storage = await createPostgresStorage({ url });
    const acknowledged: string[] = [];
    let refused = 0;
    let stop = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!stop) {
        try {
          acknowledged.push((await storage.notes.save(note)).id);
        } catch (error) {
          assert.ok(isCarrelError(error) && error.code === 'unavailable', String(error));
          refused += 1;
          await delay(10);
        }
      }
    });
    const reach = async (count: number) => {
      while (acknowledged.length < count) await Promise.race([delay(10), ...load]);
    };
    await reach(20);
    await server.restart();
    await reach(acknowledged.length + 20);
    stop = true;
    await Promise.all(load);
    assert.ok(refused > 0, 'the outage was noticed');
    for (const id of acknowledged) assert.ok(await storage.notes.get(id), `${id} was acknowledged and is gone`);
    assert.deepEqual(await storage.check(), []);
    await storage.close();
  });
});

const entry: NewEntry = {
  threadId: 'thread',
  source: 'user',
  text: 'a text',
  metadata: undefined,
  tags: [],
  images: [],
  summary: undefined,
};
const note = { title: 'title', content: 'some words', tags: [], sourceUrls: [] };

/** Retries until a connection is free: the server releases closed ones with a delay. */
async function connected(url: string): Promise<Client> {
  for (;;) {
    const client = new Client({ connectionString: url });
    try {
      await client.connect();
      return client;
    } catch {
      await delay(20);
    }
  }
}

function endConnections(database: string): string {
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`;
}

async function save(storage: Storage): Promise<unknown> {
  return storage.notes.save(note);
}

async function run(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

async function fails(promise: Promise<unknown>, code: ErrorCode): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (thrown) => thrown,
  );
  assert.ok(isCarrelError(error), `expected ${code}, got ${error}`);
  assert.equal(error.code, code);
  return error;
}
