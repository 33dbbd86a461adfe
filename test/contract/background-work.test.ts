import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';
import { Client } from 'pg';
import { databaseSources } from '../../src/app/database-sources.ts';
import { createLogger, type LogRecord } from '../../src/base/log.ts';
import { createBackgroundWork } from '../../src/storage/background-work.ts';
import { createConnections } from '../../src/storage/postgres/connections/connections.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';
import { pause } from '../support/pause.ts';
import { createTestDatabase, type PostgresServer, serverObstacle, startRealPostgres } from '../support/postgres.ts';

describe('background work on PostgreSQL', { skip: serverObstacle() ?? false }, () => {
  let server: PostgresServer;
  let url: string;
  let drop: () => Promise<void>;
  before(async () => {
    const started = await startRealPostgres();
    assert.ok(typeof started !== 'string', String(started));
    server = started;
    ({ url, drop } = await createTestDatabase(server));
  });
  after(async () => {
    await drop?.();
    await server?.stop();
  });

  test('logs, counts and retries a step that meets a locked table, and carrel doctor reports it', async (t) => {
    const storage = await createPostgresStorage({ url });
    const connections = createConnections({ url, lockTimeoutMs: 20 });
    const records: LogRecord[] = [];
    const logger = createLogger([{ level: 'info', write: (record) => records.push(record), flush() {} }]);
    const work = createBackgroundWork({ logger, shared: () => storage.shared, retryMs: 10 });
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE carrel.notes IN ACCESS EXCLUSIVE MODE');
    let attempts = 0;
    const step = () => {
      attempts += 1;
      return connections.write((statements) => statements.query('DELETE FROM carrel.notes'));
    };
    const done = work.run('tidy notes', step);
    assert.equal(work.run('tidy notes', step), done, 'one at a time');
    while (attempts < 3) await pause(10);
    // In another process on the same database.
    assert.deepEqual(
      (await storage.background?.failures())?.map(({ name, code }) => ({ name, code })),
      [{ name: 'tidy notes', code: 'storage_busy' }],
    );
    const settings = { STORAGE_BACKEND: 'postgresql', DATABASE_URL: url, EMBEDDING_PROVIDER: 'none' };
    const env = cleanEnv(makeFolder(t), settings);
    await holder.query('COMMIT');
    await done;
    const doctor = () =>
      spawnSync(process.execPath, [carrelProgram, 'doctor', 'context', '--json'], { env, encoding: 'utf8' }).stdout;
    assert.doesNotMatch(doctor(), /tidy notes/);
    assert.deepEqual(await work.failures(), []);
    assert.equal(work.counts().get('tidy notes'), attempts - 1);
    assert.deepEqual(
      records.map(({ level, fields }) => [level, fields]),
      [
        ['warn', { work: 'tidy notes', code: 'storage_busy' }],
        ['info', { work: 'tidy notes' }],
      ],
    );

    // Simulates a user who lacks a privilege.
    await holder.query('CREATE TABLE public.foreign_table (x integer)');
    await holder.query(
      'CREATE ROLE background_tester LOGIN PASSWORD $$tester$$; GRANT USAGE ON SCHEMA carrel TO background_tester',
    );
    const limited = new URL(url);
    [limited.username, limited.password] = ['background_tester', 'tester'];
    const unprivileged = createConnections({ url: limited.href });
    const forbidden = work.run('read what is forbidden', () =>
      unprivileged.read((statements) => statements.query('SELECT x FROM public.foreign_table')),
    );
    while ((await work.failures()).length === 0) await pause(10);
    assert.match(doctor(), /read what is forbidden.*failed \d+ times.*invalid_config/);
    await holder.query('GRANT SELECT ON public.foreign_table TO background_tester');
    await forbidden;
    assert.deepEqual(await work.failures(), []);
    work.close();
    await unprivileged.close();
    await holder.query('DROP TABLE public.foreign_table; DROP OWNED BY background_tester; DROP ROLE background_tester');
    await holder.end();
    await Promise.all([connections.close(), storage.close()]);
  });

  test('failed background work is in the metrics until it succeeds', async () => {
    const [one, two] = [await createPostgresStorage({ url }), await createPostgresStorage({ url })];
    assert.ok(one.shared && two.shared);
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`CREATE FUNCTION carrel.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
      CREATE TRIGGER refuse BEFORE DELETE ON carrel.shared_parts FOR EACH ROW EXECUTE FUNCTION carrel.refuse();
      INSERT INTO carrel.shared_parts VALUES ('test', 'expired', 0, 0, 'x', 0)`);
    // Also removes expired parts.
    await two.shared.put({ kind: 'test', id: 'new', part: 0 }, Buffer.from('x'), 60_000);
    const config = { of: () => ({ backend: 'postgresql' }) };
    const [source] = databaseSources(
      config as never,
      {
        storage: async () => ({ resource: two, release: async () => {} }),
      } as never,
    );
    while ((await source?.measure())?.length === 0) await pause(5);
    assert.deepEqual((await source?.measure())?.[0]?.labels, { work: 'remove expired rows' });
    while ((await one.background?.failures())?.length === 0) await pause(5);
    assert.equal((await one.background?.failures())?.[0]?.code, 'P0001');
    await client.query('DROP TRIGGER refuse ON carrel.shared_parts; DROP FUNCTION carrel.refuse()');
    while ((await one.background?.failures())?.length !== 0) await pause(20);
    await client.end();
    await Promise.all([one.close(), two.close()]);
  });

  test('stops retrying when closed', async () => {
    const work = createBackgroundWork({ retryMs: 60_000 });
    const failed = Promise.withResolvers<void>();
    const done = work.run('fail', async () => {
      failed.resolve();
      throw new Error('no');
    });
    await failed.promise;
    work.close();
    await done;
    await work.run('fail', () => assert.fail('a closed one runs nothing'));
  });
});
