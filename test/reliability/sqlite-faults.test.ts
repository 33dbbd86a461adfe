import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { type ErrorCode, isCarrelError } from '../../src/base/errors.ts';
import { newestSchema } from '../../src/storage/schema/schema-version.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { openFailure } from '../../src/storage/sqlite/storage-error.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { temporaryFolder } from '../support/backends.ts';
import { size } from '../support/sizes.ts';

const emptyDatabase = join(temporaryFolder(), 'empty.db');
before(async () => (await createSqliteStorage({ path: emptyDatabase })).close());

describe('a SQLite file that misbehaves', () => {
  const folder = temporaryFolder();

  test('files and folders are for their owner alone', async () => {
    const path = join(folder, 'new', 'deep', 'notes.db');
    const storage = await createSqliteStorage({ path });
    await save(storage);
    assert.equal(statSync(join(folder, 'new')).mode & 0o777, 0o700);
    assert.equal(statSync(join(folder, 'new', 'deep')).mode & 0o777, 0o700);
    for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(path + suffix).mode & 0o777, 0o600);
    await storage.close();
    assert.equal(existsSync(`${path}-wal`), false);
  });

  test('T140, T141: the file is in WAL mode, ours by its header, and at the newest schema', async () => {
    const path = join(folder, 'header.db');
    copyFileSync(emptyDatabase, path);
    const storage = await createSqliteStorage({ path });
    assert.equal((await storage.describe()).schema, newestSchema);
    assert.deepEqual(await storage.check(), []);
    await storage.close();
    const bytes = readFileSync(path);
    assert.deepEqual([bytes[18], bytes[19]], [2, 2], 'read and write version 2 is the write-ahead log');
    assert.equal(bytes.toString('latin1', 68, 72), 'Carr');
  });

  test('rejects a newer schema, and leaves it alone', async () => {
    const path = join(folder, 'newer.db');
    copyFileSync(emptyDatabase, path);
    edit(path, 'PRAGMA user_version = 99');
    const before = readFileSync(path);
    const error = await fails(createSqliteStorage({ path }), 'storage_newer');
    assert.match(error.message, /schema 99.*Upgrade Carrel/);
    assert.deepEqual(readFileSync(path), before);
  });

  test('rejects a schema from before the first release, and leaves it alone', async () => {
    const path = join(folder, 'older.db');
    copyFileSync(emptyDatabase, path);
    for (const version of [1, 7]) {
      edit(path, `PRAGMA user_version = ${version}`);
      const before = readFileSync(path);
      const error = await fails(createSqliteStorage({ path }), 'storage_older');
      assert.match(error.message, /carrel export.*carrel import/);
      assert.deepEqual(readFileSync(path), before);
    }
  });

  test("T150: rejects another program's database, and leaves it alone", async () => {
    const path = join(folder, 'foreign.db');
    edit(path, 'CREATE TABLE notes (id TEXT); CREATE VIEW v AS SELECT 1');
    chmodSync(path, 0o644);
    const before = readFileSync(path);
    await fails(createSqliteStorage({ path }), 'storage_foreign');
    assert.deepEqual(readFileSync(path), before, 'not a byte, nor its journal mode');
    assert.equal(statSync(path).mode & 0o777, 0o644);
    const marked = join(folder, 'foreign-marked.db');
    edit(marked, 'PRAGMA application_id = 7; CREATE TABLE t (x)');
    await fails(createSqliteStorage({ path: marked }), 'storage_foreign');
  });

  test('rejects a file that is not a database, and leaves its mode alone', async () => {
    const path = join(folder, 'garbage.db');
    writeFileSync(path, 'This is not a database at all. '.repeat(200));
    chmodSync(path, 0o644);
    const error = await fails(createSqliteStorage({ path }), 'storage_corrupt');
    assert.equal(error.message.includes('not a database at all'), false);
    assert.equal(statSync(path).mode & 0o777, 0o644);
  });

  test('damage inside a file fails the call that reads it, and the check finds it', async () => {
    const path = join(folder, 'damaged.db');
    const storage = await createSqliteStorage({ path });
    for (let index = 0; index < 200; index += 1) await save(storage, 'words '.repeat(200));
    await storage.close();
    const bytes = readFileSync(path);
    // The schema is at the start of the file and stays readable.
    bytes.fill(0xa5, Math.floor(bytes.length / 2));
    writeFileSync(path, bytes);
    const damaged = await createSqliteStorage({ path });
    await fails(damaged.notes.list({ query: 'words', limit: 100, offset: 0 }), 'storage_corrupt');
    const outcome = await damaged.check().then(
      (problems) => problems.length > 0,
      (error) => isCarrelError(error) && error.code === 'storage_corrupt',
    );
    assert.equal(outcome, true);
    await damaged.close();
  });

  test('a folder instead of the file is a configuration error, and keeps its mode', async () => {
    const path = join(folder, 'a-folder');
    mkdirSync(path, { mode: 0o755 });
    const error = await fails(createSqliteStorage({ path }), 'invalid_config');
    assert.match(error.message, /DB_PATH.*folder/);
    assert.equal(statSync(path).mode & 0o777, 0o755);
  });

  test('a failed migration step keeps the steps before it', async () => {
    const path = join(folder, 'steps.db');
    const { openDatabase } = await import('../../src/storage/sqlite/database.ts');
    const { migrate, schemaVersion } = await import('../../src/storage/sqlite/migrate.ts');
    const database = openDatabase({ path, role: 'writer', busyTimeoutMs: 1000 });
    const first = 'CREATE TABLE one (x)';
    await assert.rejects(migrate(database, [first, 'CREATE TABLE two (x); CREATE TABLE two (x)']));
    assert.equal(schemaVersion(database), newestSchema);
    assert.equal(database.get("SELECT 1 FROM sqlite_schema WHERE name = 'two'"), undefined);
    await migrate(database, [first, 'CREATE TABLE two (x)']);
    assert.equal(schemaVersion(database), newestSchema + 1);
    database.close();
  });

  const connections = size({ quick: 4, full: 8 });
  test(`T152: ${connections} connections that open a new file at once all write to it`, async () => {
    const path = join(folder, 'together.db');
    const storages = await Promise.all(Array.from({ length: connections }, () => createSqliteStorage({ path })));
    await Promise.all(storages.flatMap((storage) => Array.from({ length: 10 }, () => save(storage))));
    assert.equal((await storages[0]?.notes.list({ limit: 1, offset: 0 }))?.total, 10 * connections);
    for (const storage of storages) await storage.close();
  });

  test('a lock of another process causes storage_busy after the timeout, and ends with the process', async () => {
    const path = join(folder, 'locked.db');
    const storage = await createSqliteStorage({ path, busyTimeoutMs: 20 });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    await fails(save(storage), 'storage_busy');
    assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 0);
    other.exec('ROLLBACK');
    other.close();
    await save(storage);
    await storage.close();
  });

  test('a search is stopped at its timeout, and the next one is answered', async () => {
    const path = join(folder, 'slow.db');
    const patient = await createSqliteStorage({ path, readersMax: 1 });
    for (let index = 0; index < 30; index += 1) await save(patient, 'slow words '.repeat(4500));
    const storage = await createSqliteStorage({ path, queryTimeoutMs: 1, readersMax: 1 });
    await fails(storage.notes.list({ query: 'slow', limit: 60, offset: 0 }), 'query_timeout');
    await save(storage, 'still writing');
    await storage.close();
    const controller = new AbortController();
    const given = patient.notes.list({ query: 'slow', limit: 60, offset: 0 }, { signal: controller.signal });
    const behind = patient.notes.list({ query: 'still', limit: 1, offset: 0 });
    controller.abort(new Error('given up'));
    await fails(given, 'cancelled');
    await fails(patient.notes.list({ limit: 1, offset: 0 }, { signal: controller.signal }), 'cancelled');
    assert.equal((await behind).total, 1);
    await patient.close();
  });

  test('a closed storage reports that it is closed', async () => {
    const path = join(folder, 'closed.db');
    copyFileSync(emptyDatabase, path);
    const storage = await createSqliteStorage({ path });
    await storage.close();
    await fails(save(storage), 'unavailable');
    await fails(storage.notes.list({ limit: 1, offset: 0 }), 'unavailable');
  });

  test('an open storage with nothing to do does not keep its process alive', async () => {
    const script = `
      const { createSqliteStorage } = await import(${JSON.stringify(new URL('../../src/storage/sqlite/sqlite-storage.ts', import.meta.url))});
      const storage = await createSqliteStorage({ path: ${JSON.stringify(join(folder, 'idle.db'))} });
      await storage.notes.list({ limit: 1, offset: 0 });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    const [code] = await once(child, 'close');
    assert.deepEqual([code, output], [0, '']);
  });
});

describe('as root: a disk that misbehaves', { skip: cannotMount() }, () => {
  const folder = temporaryFolder();

  test('T145: on a full disk rejects writes, keeps reading, and recovers without a restart', async () => {
    const disk = mountDisk(join(folder, 'full'), '2m');
    const storage = await createSqliteStorage({ path: join(disk, 'notes.db') });
    await save(storage, 'findable');
    const ballast = join(disk, 'ballast');
    let acknowledged = 1;
    let refused: unknown;
    for (let count = 0; refused === undefined && count < 500; count += 1) {
      await save(storage, `filling ${'x'.repeat(20_000)}`).then(
        () => {
          acknowledged += 1;
        },
        (error) => {
          refused = error;
        },
      );
      if (count === 3) writeFileSync(ballast, Buffer.alloc(300_000));
    }
    assert.ok(isCarrelError(refused) && refused.code === 'storage_full', String(refused));
    assert.equal((await storage.notes.list({ query: 'findable', limit: 1, offset: 0 })).total, 1);
    rmSync(ballast);
    await save(storage, 'after');
    assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, acknowledged + 1);
    assert.deepEqual(await storage.check(), []);
    await storage.close();
  });

  test('T145: on a full disk, deletions keep working, and nothing is added', async () => {
    const disk = mountDisk(join(folder, 'removing'), '256m');
    const path = join(disk, 'notes.db');
    let storage = await createSqliteStorage({ path });
    const ids: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      const entries = Array.from({ length: 10 }, (_, index) =>
        entry(`harbour ${count} ${index} ${'text '.repeat(2000)}`),
      );
      ids.push(...(await storage.entries.store({ entries })).map(({ id }) => id));
    }
    fillDisk(join(disk, 'ballast'));
    await fails(storeLarge(storage), 'storage_full');
    for (const id of ids.slice(0, 10)) await storage.entries.remove({ ids: [id], dryRun: false });
    await fails(storeLarge(storage), 'storage_full');
    await storage.entries.remove({ ids: ids.slice(10, 300), dryRun: false });
    await storage.close();
    // The reserved space outlives its process, and lets another start when nothing is left for a log.
    fillDisk(join(disk, 'more ballast'));
    storage = await createSqliteStorage({ path });
    for (const id of ids.slice(300, 310)) await storage.entries.remove({ ids: [id], dryRun: false });
    await fails(storeLarge(storage), 'storage_full');
    assert.deepEqual(await storage.check(), []);
    assert.deepEqual((await storage.entries.get({ ids, images: false })).length, ids.length - 310);
    rmSync(join(disk, 'ballast'));
    rmSync(join(disk, 'more ballast'));
    await storeLarge(storage);
    await storage.close();
  });

  test('a read-only disk rejects writes and keeps reading', async () => {
    const disk = mountDisk(join(folder, 'read-only'), '8m');
    const path = join(disk, 'notes.db');
    await (await createSqliteStorage({ path })).close();
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const error = await createSqliteStorage({ path }).then(
      async (storage) => {
        const outcome = await save(storage).then(
          () => undefined,
          (thrown) => thrown,
        );
        await storage.close();
        return outcome;
      },
      (thrown) => thrown,
    );
    assert.ok(isCarrelError(error) && ['storage_read_only', 'unavailable'].includes(error.code), String(error));
    execFileSync('mount', ['-o', 'remount,rw', disk]);
    const storage = await createSqliteStorage({ path });
    await save(storage);
    await storage.close();
  });
});

test('T145: a file that may not grow rejects writes, keeps reading, and recovers without a restart', {
  skip: cannotLimit(),
}, async () => {
  const path = join(temporaryFolder(), 'limited.db');
  // A soft limit, which can be raised from outside.
  const child = spawn('prlimit', ['--fsize=3000000:unlimited', process.execPath, limitedWriter, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await answers.next()).value ?? '');
  const refused = await next();
  assert.ok(['storage_full', 'unavailable'].includes(refused.code), refused.code);
  assert.ok(refused.written > 0);
  assert.equal(refused.found, refused.written, 'what was acknowledged is found, and nothing else');
  execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:unlimited']);
  child.stdin.write('again\n');
  assert.deepEqual(await next(), { found: refused.written + 1, problems: [] });
  await once(child, 'close');
});

test('a file without write permission is a clean error', {
  skip: process.getuid?.() === 0 && 'root may write anything',
}, async () => {
  const path = join(temporaryFolder(), 'mode', 'notes.db');
  await (await createSqliteStorage({ path })).close();
  chmodSync(join(path, '..'), 0o500);
  const storage = await createSqliteStorage({ path }).catch((error) => error);
  assert.ok(isCarrelError(storage));
  chmodSync(join(path, '..'), 0o700);
});

test('contract §1: reports why a database cannot be opened: files in use, or another owner', async () => {
  const path = join(temporaryFolder(), 'notes.db');
  copyFileSync(emptyDatabase, path);
  chmodSync(dirname(path), 0o755);
  // Only root can become another user; other users remove their own permission.
  const asAnother = process.getuid?.() === 0 ? 'process.setuid(65534);' : `chmodSync(${JSON.stringify(path)}, 0);`;
  const script = `
    import { chmodSync, closeSync, openSync } from 'node:fs';
    import { openDatabase } from ${JSON.stringify(new URL('../../src/storage/sqlite/database.ts', import.meta.url))};
    const tell = () => {
      try {
        openDatabase({ path: ${JSON.stringify(path)}, role: 'reader', busyTimeoutMs: 0 }).close();
      } catch (error) {
        return [error.code, error.message];
      }
    };
    const told = [tell()];
    const files = [];
    try {
      for (;;) files.push(openSync('/dev/null'));
    } catch {}
    told.push(tell());
    for (const file of files) closeSync(file);
    ${asAnother}
    told.push(tell());
    console.log(JSON.stringify(told));`;
  const args = ['--nofile=100', process.execPath, '--input-type=module', '--eval', script];
  const [fine, files, owner] = JSON.parse(execFileSync('prlimit', args, { encoding: 'utf8' }));
  assert.equal(fine, null);
  assert.equal(files[0], 'unavailable');
  assert.match(files[1], /too many open files .*ulimit -n/);
  assert.equal(owner[0], 'invalid_config');
  assert.match(owner[1], /^The current user may not read the database\. Run Carrel as the owner/);
});

test('contract §2: asking why a database cannot be opened leaves this process its locks', async () => {
  const path = join(temporaryFolder(), 'notes.db');
  copyFileSync(emptyDatabase, path);
  const database = new DatabaseSync(path);
  database.exec('BEGIN IMMEDIATE; CREATE TABLE here (x)');
  const unopened = (() => {
    try {
      return new DatabaseSync(join(path, 'none'), { readOnly: true });
    } catch (error) {
      return error;
    }
  })();
  assert.equal(openFailure(path, unopened), unopened);
  const script = `
    import { DatabaseSync } from 'node:sqlite';
    const database = new DatabaseSync(${JSON.stringify(path)}, { timeout: 0 });
    try {
      database.exec('BEGIN IMMEDIATE; CREATE TABLE there (x); COMMIT');
    } catch (error) {
      console.log(error.errcode);
    }`;
  const args = ['--input-type=module', '--eval', script];
  assert.equal(execFileSync(process.execPath, args, { encoding: 'utf8' }).trim(), '5');
  database.close();
});

async function save(storage: Storage, content = 'some words'): Promise<unknown> {
  return storage.notes.save({ title: 'title', content: content.slice(0, 50_000), tags: [], sourceUrls: [] });
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

function edit(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function entry(text: string) {
  return { threadId: 't', source: 'user', text, metadata: {}, summary: undefined, tags: [], images: [] } as const;
}

/** Stores more than the space reserved for deletions. */
async function storeLarge(storage: Storage): Promise<unknown> {
  const data = randomBytes(40_000_000);
  const images = [{ data, mimeType: 'image/png', metadata: {} }];
  return storage.entries.store({ entries: [{ ...entry('a large one'), images }] });
}

/** Fills all free space. */
function fillDisk(path: string): void {
  const file = openSync(path, 'w');
  for (let size = 1024 * 1024; size >= 1024; ) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch {
      size /= 2;
    }
  }
  closeSync(file);
}

function cannotMount(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root can mount a small disk';
  const folder = '/tmp/carrel-mount-probe';
  try {
    mkdirSync(folder, { recursive: true });
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return false;
  } catch {
    return 'this machine does not allow mounting';
  }
}

/** Part of util-linux on every Linux. It execs the program, so the process id is the program's. */
function cannotLimit(): string | false {
  return existsSync('/usr/bin/prlimit') ? false : 'this machine has no prlimit';
}

const limitedWriter = join(import.meta.dirname, '../support/limited-writer.ts');

function mountDisk(folder: string, size: string): string {
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  after(() => execFileSync('umount', ['-l', folder]));
  return folder;
}
