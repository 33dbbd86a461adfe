import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, test } from 'node:test';
import type { ArchiveMember } from '../../src/storage/backup/archive.ts';
import { type BackupLocation, backUp, restore, verifyBackup } from '../../src/storage/backup/backup.ts';
import type { Manifest } from '../../src/storage/backup/manifest.ts';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend, temporaryFolder } from '../support/backends.ts';
import { rewriteBackup } from '../support/rewrite-backup.ts';
import { size } from '../support/sizes.ts';
import { contentOf, fillStorage } from '../support/stored-content.ts';

const quiet = { force: false, onProgress: () => {} };

// Issue: "Online backup and verified restore for both." The clauses are in docs/backup.md.
onEachBackend(
  'backup and restore',
  (backend) => {
    const folder = temporaryFolder();
    const file = join(folder, 'first.tar');
    const backupLocation = (storage: StorageLocation): BackupLocation => ({
      storage,
      originals: join(storage.backend === 'sqlite' ? dirname(storage.path) : folder, 'documents'),
    });
    const use = async <T>(config: StorageLocation, work: (storage: Storage) => Promise<T>): Promise<T> => {
      const storage = await openStorage(config);
      try {
        return await work(storage);
      } finally {
        await storage.close();
      }
    };
    let source: StorageLocation;
    let content: unknown;
    /** Has content that only a valid backup may replace. */
    let former: StorageLocation;
    /** A new database, which invalid backups leave as it is. */
    let empty: StorageLocation;
    const checkFormer = () =>
      use(former, async (storage) => assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 2));
    before(async () => {
      former = await backend.newLocation();
      await use(former, (storage) => fillStorage(storage, 2));
      empty = await backend.newLocation();
      source = await backend.newLocation();
      content = await use(source, async (storage) => {
        await fillStorage(storage, 4);
        return contentOf(storage);
      });
      await backUp(backupLocation(source), file, quiet);
    });
    const refused = (work: Promise<unknown>, code: string) =>
      assert.rejects(work, (error: Error & { code?: string }) => {
        assert.equal(error.code, code, error.message);
        return true;
      });

    test('a restored database answers like the original, has the same rows, and accepts writes', async () => {
      const target = await backend.newLocation();
      const report = await restore(backupLocation(target), file, quiet);
      assert.equal(report.tables.find(({ name }) => name === 'notes')?.rows, 5);
      await use(target, async (storage) => {
        assert.deepEqual(await contentOf(storage), content);
        assert.deepEqual(await storage.check(), []);
        const again = await backUp(backupLocation(target), join(folder, 'again.tar'), quiet);
        assert.deepEqual(again.tables, (await verifyBackup(file)).tables);
        await fillStorage(storage, 3);
        assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 7);
        assert.deepEqual(await storage.check(), []);
      });
    });

    test('contains every acknowledged write, and a consistent snapshot of concurrent ones', async () => {
      const during = join(folder, 'during.tar');
      const [acknowledged, saved] = await use(source, async ({ notes }) => {
        const writing = new AbortController();
        const five = Promise.withResolvers<void>();
        let count = 0;
        const writer = (async () => {
          while (!writing.signal.aborted) {
            await notes.save({ title: 'more', content: `lighthouse ${count}`, tags: ['m'], sourceUrls: [] });
            count += 1;
            if (count === 5) five.resolve();
          }
        })();
        await Promise.race([five.promise, writer]);
        const before = count;
        await backUp(backupLocation(source), during, quiet);
        writing.abort();
        await writer;
        return [before, count];
      });
      assert.ok(saved > acknowledged, 'the writer was not held up');
      const target = await backend.newLocation();
      // A database that was only opened counts as empty.
      await use(target, async () => {});
      await restore(backupLocation(target), during, quiet);
      await use(target, async (restored) => {
        const { total } = await restored.notes.list({ tags: ['m'], limit: 1, offset: 0 });
        assert.ok(total >= acknowledged && total <= saved, `${acknowledged} <= ${total} <= ${saved}`);
        assert.deepEqual(await restored.check(), []);
      });
    });

    test('rejects any flipped bit, missing or extra byte before touching anything', async () => {
      const bytes = readFileSync(file);
      const broken = join(folder, 'broken.tar');
      const positions = [0, 124, 148, 300, 511, 512, 1024, bytes.length - 1100, bytes.length - 1537, bytes.length - 1];
      const spread = size({ quick: 8, full: 60 });
      for (let count = 0; count < spread; count += 1) positions.push(Math.floor((bytes.length * count) / spread));
      for (const position of positions) {
        const flipped = Buffer.from(bytes);
        flipped[position] = (flipped[position] ?? 0) ^ (1 << (position % 8));
        writeFileSync(broken, flipped);
        await refused(verifyBackup(broken), 'invalid_backup');
      }
      for (const length of [0, 1, 511, 512, 5000, bytes.length - 1024, bytes.length - 1]) {
        writeFileSync(broken, bytes.subarray(0, length));
        await refused(restore(backupLocation(empty), broken, { ...quiet, force: true }), 'invalid_backup');
      }
      writeFileSync(broken, Buffer.concat([bytes, Buffer.alloc(1)]));
      await refused(restore(backupLocation(empty), broken, { ...quiet, force: true }), 'invalid_backup');
      if (empty.backend === 'sqlite') assert.equal(existsSync(empty.path), false);
    });

    test('rejects a backup with a newer schema or format', async () => {
      const newer = join(folder, 'newer.tar');
      await rewriteBackup(file, newer, (manifest) => ({ ...manifest, schema: 9999 }));
      await refused(restore(backupLocation(empty), newer, quiet), 'storage_newer');
      await rewriteBackup(file, newer, (manifest) => ({ ...manifest, format: 3 as 2 }));
      await refused(restore(backupLocation(empty), newer, quiet), 'storage_newer');
    });

    test('rejects a backup from before the first release, and changes nothing', async () => {
      const older = join(folder, 'older.tar');
      await rewriteBackup(file, older, (manifest) => ({ ...manifest, schema: 4 }));
      await assert.rejects(restore(backupLocation(empty), older, quiet), /carrel export.*carrel import/);
      await rewriteBackup(file, older, (manifest) => ({ ...manifest, format: 1 as 2, schema: 4 }));
      await refused(restore(backupLocation(empty), older, { ...quiet, force: true }), 'storage_older');
      if (empty.backend === 'sqlite') assert.equal(existsSync(empty.path), false);
    });

    test('rejects a backup whose rows differ from its manifest, or of unknown tables or columns, even with a valid checksum', async () => {
      const forged = join(folder, 'shape.tar');
      const forge = async (change: (tables: Manifest['tables']) => Manifest['tables'], more: ArchiveMember[] = []) => {
        await rewriteBackup(file, forged, (manifest) => ({ ...manifest, tables: change(manifest.tables) }), more);
        await refused(restore(backupLocation(former), forged, { ...quiet, force: true }), 'invalid_backup');
      };
      const row = Buffer.from(
        '["trigger","t","notes",0,"CREATE TRIGGER t AFTER INSERT ON notes BEGIN SELECT 1; END"]\n',
      );
      const foreign = { name: 'sqlite_schema', rows: 1, columns: ['type', 'name', 'tbl_name', 'rootpage', 'sql'] };
      const member = { name: 'tables/sqlite_schema/000001', size: row.length, content: [row] };
      await forge((tables) => [...tables, foreign], [member]);
      await forge((tables) => tables, [member]);
      await forge((tables) => tables.slice(1));
      await forge((tables) => tables.map((table) => (table.name === 'notes' ? { ...table, rows: 11 } : table)));
      await forge((tables) => tables.map((table) => ({ ...table, columns: [...table.columns, 'more'] })));
      await checkFormer();
    });

    test('replaces content only with --force, and then all of it', async () => {
      await refused(restore(backupLocation(former), file, quiet), 'storage_not_empty');
      await checkFormer();
      await restore(backupLocation(former), file, { ...quiet, force: true });
      await use(former, async (storage) => assert.deepEqual(await contentOf(storage), content));
    });

    test('never overwrites the database or a non-file, even with --force', async () => {
      const location = backupLocation(source);
      const own = location.storage.backend === 'sqlite' ? [location.storage.path, `${location.storage.path}-wal`] : [];
      if (own[0] !== undefined) symlinkSync(own[0], join(folder, 'alias'));
      const others = [
        ...own,
        ...(own.length > 0 ? [join(folder, 'alias'), join(location.originals, 'x')] : []),
        folder,
      ];
      for (const other of others) await refused(backUp(location, other, { ...quiet, force: true }), 'invalid_usage');
      if (location.storage.backend === 'sqlite') {
        const { path } = location.storage;
        symlinkSync(dirname(path), join(folder, 'folder'));
        const linked = join(folder, 'folder', basename(path));
        const byLink = { ...location, storage: { ...location.storage, path: linked } };
        for (const [by, wal] of [
          [byLink, linked],
          [byLink, path],
          [location, linked],
        ] as const) {
          for (const suffix of ['-wal', '-journal']) {
            await refused(backUp(by, wal + suffix, { ...quiet, force: true }), 'invalid_usage');
          }
        }
      }
      await backUp(location, file, { ...quiet, force: true });
      // Starts with the database's name, like people's copies of it.
      if (own[0] !== undefined) await backUp(location, `${own[0]}-monday`, quiet);
    });

    test('writes a private file, overwrites none, and leaves no temporary files', async () => {
      assert.equal(statSync(file).mode & 0o777, 0o600);
      await refused(backUp(backupLocation(source), file, quiet), 'invalid_usage');
      await backUp(backupLocation(source), file, { ...quiet, force: true });
      await verifyBackup(file);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes('.tmp')),
        [],
      );
    });
  },
  'server',
);

describe('foreign schema objects in a SQLite file', () => {
  const folder = temporaryFolder();
  const at = (name: string): BackupLocation & { storage: { path: string } } => ({
    storage: { backend: 'sqlite', path: join(folder, `${name}.db`) },
    originals: join(folder, name),
  });
  const objectsOf = ({ storage }: { storage: { path: string } }) => {
    const database = new DatabaseSync(storage.path, { readOnly: true });
    const objects = database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name').all();
    database.close();
    return objects;
  };

  test('does not restore foreign triggers and views', async () => {
    const [source, target] = [at('source'), at('target')];
    const stored = await openStorage(source.storage);
    await stored.notes.save({ title: 'note', content: 'lighthouse', tags: [], sourceUrls: [] });
    await stored.close();
    const ownObjects = objectsOf(source);
    const database = new DatabaseSync(source.storage.path);
    database.exec(`CREATE VIEW all_notes AS SELECT * FROM notes;
      CREATE TRIGGER on_note AFTER INSERT ON notes BEGIN DELETE FROM access_tokens; END`);
    database.close();
    const file = join(folder, 'objects.tar');
    await backUp(source, file, quiet);
    await restore(target, file, quiet);
    assert.deepEqual(objectsOf(target), ownObjects);
  });

  test('rejects a database file inside a backup', async () => {
    const [source, target] = [at('source'), at('refused')];
    const [file, forged] = [join(folder, 'plain.tar'), join(folder, 'forged.tar')];
    await backUp(source, file, quiet);
    const content = readFileSync(source.storage.path);
    await rewriteBackup(file, forged, (manifest) => manifest, [
      { name: 'database.sqlite', size: content.length, content: [content] },
    ]);
    await assert.rejects(restore(target, forged, quiet), { code: 'invalid_backup' });
    assert.equal(existsSync(target.storage.path), false);
  });
});

describe('verifying a backup', () => {
  const folder = temporaryFolder();
  test('rejects a file that is not a backup', async () => {
    const file = join(folder, 'text');
    writeFileSync(file, 'not a backup\n'.repeat(1000));
    await assert.rejects(verifyBackup(file), /not a Carrel backup/);
  });
});
