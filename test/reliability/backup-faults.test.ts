import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type BackupLocation, backUp, restore, verifyBackup } from '../../src/storage/backup/backup.ts';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { onEachBackend, temporaryFolder } from '../support/backends.ts';
import { carrelProgram, cleanEnv } from '../support/child-program.ts';
import { passageWriter } from '../support/passages.ts';
import { rewriteBackup } from '../support/rewrite-backup.ts';
import { size } from '../support/sizes.ts';

/** For a release: `CARREL_RESTORE_KILLS=100 node test/reliability/backup-faults.test.ts`. */
const kills = size({ quick: 2, full: 5, variable: 'CARREL_RESTORE_KILLS' });
/** Passages in the restored backup. */
const restored = size({ quick: 250, full: 4000 });
const quiet = { force: false, onProgress: () => {} };
const forced = { ...quiet, force: true };

onEachBackend(
  'restoring and kill -9',
  (backend) => {
    const folder = temporaryFolder();

    test(`${kills} restores killed at any moment leave the old or the new content, never a mixture`, async () => {
      const [large, target] = [await backend.newLocation(), await backend.newLocation()];
      await fill(large, 'fresh', restored);
      await fill(target, 'former', 200);
      const file = join(folder, 'large.tar');
      const former = join(folder, 'former.tar');
      await backUp(backupLocation(large, folder), file, quiet);
      await backUp(backupLocation(target, folder), former, quiet);
      const wholeMs = await time(() => runRestore(file, target, folder));
      let [kept, replaced] = [0, 0];
      for (let count = 0; count < kills; count += 1) {
        await restore(backupLocation(target, folder), former, forced);
        // Spread over the whole run: it may be killed at any moment.
        await runRestore(file, target, folder, (wholeMs * (count + Math.random())) / kills);
        const words = await countWords(target);
        assert.ok(['200 0', `0 ${restored}`].includes(words), words);
        if (words === '200 0') kept += 1;
        else replaced += 1;
      }
      assert.ok(kept > 0, `some were killed before the end (${kept} kept, ${replaced} replaced)`);
      await restore(backupLocation(target, folder), file, forced);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes('.tmp')),
        [],
        'the next restore clears up',
      );
    });
  },
  'server',
);

describe('faults around a SQLite file', () => {
  const folder = temporaryFolder();
  const source: StorageLocation = { backend: 'sqlite', path: join(folder, 'source.db') };
  const file = join(folder, 'backup.tar');
  const locationOf = (name: string): StorageLocation & { backend: 'sqlite' } => ({
    backend: 'sqlite',
    path: join(folder, `${name}.db`),
  });

  test('a database that a server has open is not replaced', async () => {
    await fill(source, 'fresh', 10);
    await backUp(backupLocation(source, folder), file, quiet);
    const target = locationOf('open');
    const storage = await openStorage(target);
    await assert.rejects(restore(backupLocation(target, folder), file, forced), /has the database open/);
    await storage.close();
    await restore(backupLocation(target, folder), file, quiet);
    assert.equal(await countWords(target), '0 10');
  });

  test('a damaged database is moved aside, with --force only', async () => {
    const target = locationOf('damaged');
    writeFileSync(target.path, 'no database\n'.repeat(1000));
    await assert.rejects(restore(backupLocation(target, folder), file, quiet), /damaged.*--force/);
    await restore(backupLocation(target, folder), file, forced);
    assert.equal(await countWords(target), '0 10');
    assert.match(readFileSync(`${target.path}.damaged`, 'latin1'), /^no database/);
  });

  test('if the path is a link, its target is replaced, and no other files are overwritten', async () => {
    for (const former of ['damaged', 'none']) {
      const [target, real] = [locationOf(`link-${former}`), locationOf(`linked-${former}`)];
      symlinkSync(real.path, target.path);
      if (former === 'damaged') writeFileSync(real.path, 'no database\n'.repeat(1000));
      await restore(backupLocation(target, folder), file, forced);
      assert.ok(lstatSync(target.path).isSymbolicLink());
      assert.equal(await countWords(real), '0 10');
      assert.equal(existsSync(`${real.path}.damaged`), former === 'damaged');
      await assert.rejects(backUp(backupLocation(target, folder), `${real.path}-wal`, forced), {
        code: 'invalid_usage',
      });
    }
  });

  test('follows links as SQLite does: several, and through linked folders', async () => {
    const [target, real] = [locationOf('first-link'), locationOf('last')];
    const inner = join(dirname(real.path), 'inner');
    mkdirSync(inner);
    symlinkSync(inner, join(dirname(target.path), 'folder'));
    symlinkSync(join('folder', 'second-link'), target.path);
    symlinkSync(join('..', basename(real.path)), join(inner, 'second-link'));
    await restore(backupLocation(target, folder), file, forced);
    assert.ok(lstatSync(join(inner, 'second-link')).isSymbolicLink());
    assert.equal(await countWords(real), '0 10');
    const loop = locationOf('loop');
    symlinkSync(loop.path, loop.path);
    await assert.rejects(restore(backupLocation(loop, folder), file, forced), { code: 'invalid_config' });
  });

  test('does not back up a damaged database as if it were intact', async () => {
    const target = locationOf('rotten');
    await fill(target, 'fresh', 200);
    const bytes = readFileSync(target.path);
    bytes.fill(0x5a, bytes.length >> 1, (bytes.length >> 1) + 40_960);
    writeFileSync(target.path, bytes);
    const broken = join(folder, 'rotten.tar');
    await assert.rejects(backUp(backupLocation(target, folder), broken, quiet), /damaged/);
    assert.equal(existsSync(broken), false);
  });

  test('originals move with the file; names that lead elsewhere are rejected', async () => {
    const data = join(folder, 'data');
    const documents = join(data, 'documents');
    mkdirSync(join(documents, 'incoming'), { recursive: true });
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => index % 251));
    const hash = createHash('sha256').update(bytes).digest('hex');
    writeFileSync(join(documents, hash), bytes);
    writeFileSync(join(documents, 'incoming', 'half'), 'not accepted yet');
    const withFiles = join(folder, 'files.tar');
    const report = await backUp({ storage: source, originals: documents }, withFiles, quiet);
    assert.equal(report.files, 1);
    assert.deepEqual(readdirSync(data), ['documents']);
    const target = locationOf('files');
    const restored = join(folder, 'restored', 'documents');
    // The leftovers of a killed restore.
    mkdirSync(restored, { recursive: true });
    writeFileSync(join(restored, `${hash}.999999999.tmp`), 'half');
    await restore({ storage: target, originals: restored }, withFiles, quiet);
    assert.ok(readFileSync(join(restored, hash)).equals(bytes));
    assert.deepEqual(readdirSync(restored), [hash]);
    const names = ['../../out', '/etc/out', '.hidden', '', 'incoming/half', '0'.repeat(64)].map(
      (name) => `documents/${name}`,
    );
    for (const name of [...names, 'elsewhere']) {
      const hostile = join(folder, 'hostile.tar');
      await rewriteBackup(withFiles, hostile, (manifest) => manifest, [
        { name, size: 3, content: [Buffer.from('out')] },
      ]);
      await verifyBackup(hostile);
      const inside = join(folder, 'hostile', 'data', 'documents');
      await assert.rejects(
        restore({ storage: locationOf('hostile'), originals: inside }, hostile, quiet),
        /not a Carrel backup/,
      );
      assert.equal(existsSync(locationOf('hostile').path), false);
      assert.equal(existsSync(join(folder, 'hostile', 'out')), false);
    }
  });
});

function backupLocation(storage: StorageLocation, folder: string): BackupLocation {
  return { storage, originals: join(folder, 'documents') };
}

async function fill(config: StorageLocation, word: string, count: number): Promise<void> {
  await use(config, (storage) =>
    passageWriter(storage).replace([
      {
        parent: word,
        passages: Array.from({ length: count }, (_, index) => ({
          ...{ id: `${word}-${index}`, title: '', headings: [], labels: [] },
          body: `${word} ${index} ${'text of some length '.repeat(20)}`,
        })),
      },
    ]),
  );
}

/** Counts passages with the old and the new word, and checks the index against them. */
async function countWords(config: StorageLocation): Promise<string> {
  return use(config, async (storage) => {
    assert.deepEqual(await storage.check(), []);
    const total = async (word: string) =>
      (await storage.passages.search({ query: plainQuery(word), limit: 1, offset: 0 })).total;
    return `${await total('former')} ${await total('fresh')}`;
  });
}

async function use<T>(config: StorageLocation, work: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage(config);
  try {
    return await work(storage);
  } finally {
    await storage.close();
  }
}

async function time(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

async function runRestore(file: string, target: StorageLocation, folder: string, killAfterMs?: number): Promise<void> {
  const env: Record<string, string> =
    target.backend === 'sqlite'
      ? { DB_PATH: target.path }
      : { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: target.url };
  const child = spawn(process.execPath, [carrelProgram, 'restore', file, '--force'], {
    env: cleanEnv(folder, env),
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  if (killAfterMs !== undefined) {
    await Promise.race([delay(killAfterMs), exited]);
    child.kill('SIGKILL');
  }
  const [code] = await exited;
  if (killAfterMs === undefined) assert.equal(code, 0);
}
