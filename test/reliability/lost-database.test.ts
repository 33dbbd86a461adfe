import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { type ErrorCode, isCarrelError } from '../../src/base/errors.ts';
import { inspectStorage } from '../../src/storage/open-storage.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { temporaryFolder } from '../support/backends.ts';
import { makeFolder, runCarrel } from '../support/child-program.ts';

const root = temporaryFolder();
let folders = 0;

/** A folder with a database that has one note, and its open storage. */
async function opened(): Promise<{ folder: string; path: string; storage: Storage }> {
  folders += 1;
  const folder = join(root, String(folders));
  const path = join(folder, 'carrel.db');
  const storage = await createSqliteStorage({ path });
  await save(storage, 'acknowledged');
  return { folder, path, storage };
}

describe('a database that disappears while it is open', () => {
  const faults: Record<string, (place: { folder: string; path: string }) => void> = {
    moved: ({ path }) => renameSync(path, `${path}.old`),
    deleted: ({ path }) => rmSync(path),
    'deleted with its log': ({ path }) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix);
    },
    'without its folder': ({ folder }) => rmSync(folder, { recursive: true, maxRetries: 5 }),
    'in a folder that was moved': ({ folder }) => renameSync(folder, `${folder}-old`),
    'in a folder that was replaced by a copy': ({ folder }) => {
      cpSync(folder, `${folder}-copy`, { recursive: true });
      rmSync(folder, { recursive: true });
      renameSync(`${folder}-copy`, folder);
    },
    'replaced by a copy': ({ path }) => {
      cpSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    'replaced by a link to another': ({ path }) => {
      renameSync(path, `${path}.old`);
      cpSync(`${path}.old`, `${path}.other`);
      symlinkSync(`${path}.other`, path);
    },
    'whose log was deleted': ({ path }) => rmSync(`${path}-wal`),
    'whose shared index was deleted': ({ path }) => rmSync(`${path}-shm`),
  };
  for (const [name, harm] of Object.entries(faults)) {
    test(`${name}: no write is acknowledged`, async () => {
      const place = await opened();
      harm(place);
      for (const text of ['first', 'second']) {
        const error = await fails(save(place.storage, text), 'storage_lost');
        assert.match(error.message, /carrel restore/);
      }
      await place.storage.close();
    });
  }

  test('accepts writes again when put back', async () => {
    const { path, storage } = await opened();
    renameSync(path, `${path}.old`);
    await fails(save(storage, 'refused'), 'storage_lost');
    renameSync(`${path}.old`, path);
    await save(storage, 'again');
    assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 2);
    await storage.close();
  });

  test('the content of a deleted log is in the database before anything else happens', async () => {
    const { path, storage } = await opened();
    rmSync(`${path}-wal`);
    await fails(save(storage, 'refused'), 'storage_lost');
    // As after a kill: copies the file alone, while the storage has it open.
    cpSync(path, `${path}.copy`);
    const copy = new DatabaseSync(`${path}.copy`);
    assert.deepEqual(
      copy
        .prepare('SELECT title FROM notes')
        .all()
        .map(({ title }) => title),
      ['acknowledged'],
    );
    copy.close();
    await storage.close();
  });

  test('a database that disappears before the first write is not recreated', async () => {
    const { path, storage } = await opened();
    await storage.close();
    const later = await createSqliteStorage({ path });
    for (const name of readdirSync(join(path, '..'))) rmSync(join(path, '..', name), { recursive: true });
    await fails(save(later, 'refused'), 'storage_lost');
    assert.deepEqual(readdirSync(join(path, '..')), []);
    await later.close();
  });

  test('writes to a database through a symbolic link', async () => {
    const { folder, path, storage } = await opened();
    await storage.close();
    const link = join(folder, 'link.db');
    symlinkSync(path, link);
    const linked = await createSqliteStorage({ path: link });
    await save(linked, 'through the link');
    rmSync(link);
    await fails(save(linked, 'refused'), 'storage_lost');
    await linked.close();
  });
});

describe('a start that does not find its database', () => {
  const remains: Record<string, (place: { folder: string; path: string }) => void> = {
    'its log': ({ path }) => writeFileSync(`${path}-wal`, 'a log'),
    'its shared index': ({ path }) => writeFileSync(`${path}-shm`, ''),
    'its room for a full disk': ({ path }) => writeFileSync(`${path}-reserve`, ''),
    'originals of documents': ({ folder }) => {
      mkdirSync(join(folder, 'documents'));
      writeFileSync(join(folder, 'documents', 'a'.repeat(64)), 'the bytes of a document');
    },
    'an empty file of its name': ({ path }) => writeFileSync(path, ''),
  };
  for (const [name, leave] of Object.entries(remains)) {
    test(`but finds ${name}, says so and creates no new one`, async () => {
      folders += 1;
      const folder = join(root, String(folders));
      mkdirSync(folder);
      const path = join(folder, 'carrel.db');
      leave({ folder, path });
      const before = readdirSync(folder);
      const error = await fails(createSqliteStorage({ path }), 'storage_lost');
      assert.match(error.message, /carrel restore.*empty database/);
      await fails(inspectStorage({ backend: 'sqlite', path, documentsDir: join(folder, 'documents') }), 'storage_lost');
      assert.deepEqual(readdirSync(folder), before);
    });
  }

  test('creates one in a folder with other files, and leaves nothing else', async () => {
    folders += 1;
    const folder = join(root, String(folders));
    mkdirSync(join(folder, 'documents', 'incoming'), { recursive: true });
    writeFileSync(join(folder, 'config.json'), '{}');
    const path = join(folder, 'carrel.db');
    const storage = await createSqliteStorage({ path });
    await storage.close();
    assert.deepEqual(readdirSync(folder).sort(), ['carrel.db', 'config.json', 'documents']);
    assert.equal(readFileSync(path).toString('latin1', 68, 72), 'Carr');
  });

  const links: Record<string, (place: { folder: string; path: string }) => void> = {
    'a link to itself': ({ path }) => symlinkSync('carrel.db', path),
    'a link to a folder': ({ folder, path }) => symlinkSync(folder, path),
    'a link into a folder that does not exist': ({ folder, path }) => symlinkSync(join(folder, 'no', 'a.db'), path),
    'too long a name': ({ folder, path }) => symlinkSync(join(folder, 'a'.repeat(300)), path),
  };
  for (const [name, make] of Object.entries(links)) {
    test(`but ${name}, says so`, async () => {
      folders += 1;
      const folder = join(root, String(folders));
      mkdirSync(folder);
      const path = join(folder, 'carrel.db');
      make({ folder, path });
      await fails(createSqliteStorage({ path }), 'invalid_config');
      await fails(inspectStorage({ backend: 'sqlite', path }), 'invalid_config');
      assert.deepEqual(readdirSync(folder), ['carrel.db']);
    });
  }

  test("creates a link's target, with all its files beside it", async () => {
    folders += 1;
    const [folder, elsewhere] = [join(root, String(folders)), join(root, `${folders}-elsewhere`)];
    for (const each of [folder, elsewhere]) mkdirSync(each);
    const path = join(folder, 'carrel.db');
    symlinkSync(join('..', `${folders}-elsewhere`, 'second'), path);
    symlinkSync('real.db', join(elsewhere, 'second'));
    const storage = await createSqliteStorage({ path });
    await save(storage, 'through both links');
    const beside = readdirSync(elsewhere).filter((name) => name !== 'real.db-reserve');
    assert.deepEqual(beside.sort(), ['real.db', 'real.db-shm', 'real.db-wal', 'second']);
    assert.deepEqual(readdirSync(folder), ['carrel.db']);
    await storage.close();
    // The database's disk is gone, but its documents exist.
    rmSync(elsewhere, { recursive: true });
    mkdirSync(elsewhere);
    mkdirSync(join(folder, 'documents'));
    writeFileSync(join(folder, 'documents', 'a'.repeat(64)), 'the bytes of a document');
    await fails(createSqliteStorage({ path }), 'storage_lost');
  });

  test('the program refuses to start, and names the file and what to do', async (t) => {
    const dataDir = join(makeFolder(t), 'data');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'carrel.db'), '');
    const started = await runCarrel(t, ['context', '--port', '0'], { dataDir });
    assert.equal(started.code, 78);
    assert.match(started.stderr, /carrel\.db: The database file is empty.*carrel restore/);
  });
});

function save(storage: Storage, title: string): Promise<unknown> {
  return storage.notes.save({ title, content: 'some words', tags: [], sourceUrls: [] });
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
