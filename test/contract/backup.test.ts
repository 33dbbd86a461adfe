import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type BackupPlace, backUp, restore, verifyBackup } from '../../src/storage/backup/backup.ts';
import type { Storage } from '../../src/storage/contracts/storage.ts';
import { openStorage, type StoragePlace } from '../../src/storage/open-storage.ts';
import { onEachBackend, temporaryFolder } from '../support/backends.ts';
import { rewriteBackup } from '../support/rewrite-backup.ts';
import { contentOf, fillStorage } from '../support/stored-content.ts';

const quiet = { force: false, onProgress: () => {} };

// Issue: "Online backup and verified restore for both." The clauses are those of docs/backup.md.
onEachBackend(
  'backup and restore',
  (backend) => {
    const folder = temporaryFolder();
    const file = join(folder, 'first.tar');
    const placeOf = (storage: StoragePlace): BackupPlace => ({
      storage,
      originals: join(storage.backend === 'sqlite' ? dirname(storage.path) : folder, 'documents'),
    });
    const opened: Storage[] = [];
    after(async () => {
      for (const storage of opened) await storage.close();
    });
    const use = async <T>(config: StoragePlace, work: (storage: Storage) => Promise<T>): Promise<T> => {
      const storage = await openStorage(config);
      try {
        return await work(storage);
      } finally {
        await storage.close();
      }
    };
    let source: StoragePlace;
    let content: unknown;
    before(async () => {
      source = await backend.place();
      content = await use(source, async (storage) => {
        await fillStorage(storage, 12);
        return contentOf(storage);
      });
      await backUp(placeOf(source), file, quiet);
    });
    const refused = (work: Promise<unknown>, code: string) =>
      assert.rejects(work, (error: Error & { code?: string }) => {
        assert.equal(error.code, code, error.message);
        return true;
      });

    test('a restored database answers as the one that was backed up, and goes on from there', async () => {
      const target = await backend.place();
      const report = await restore(placeOf(target), file, quiet);
      assert.equal(report.tables.find(({ name }) => name === 'notes')?.rows, 13);
      await use(target, async (storage) => {
        assert.deepEqual(await contentOf(storage), content);
        assert.deepEqual(await storage.check(), []);
        await fillStorage(storage, 3);
        assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 15);
        assert.deepEqual(await storage.check(), []);
      });
    });

    test('a backup of a restored database holds the same rows', async () => {
      const target = await backend.place();
      await restore(placeOf(target), file, quiet);
      const again = await backUp(placeOf(target), join(folder, 'again.tar'), quiet);
      assert.deepEqual(again.tables, (await verifyBackup(file)).tables);
    });

    test('what somebody was embedding when the backup was made is free in the restored database', async () => {
      const [busy, target] = [await backend.place(), await backend.place()];
      const request = { model: 'm', leaseMs: 600_000, limit: 100 };
      const claimed = await use(busy, async (storage) => {
        await fillStorage(storage, 3);
        await storage.vectors.kb.choose('m');
        const { context, kb } = storage.vectors;
        return [await context.claim({ ...request, claimant: 'a' }), await kb.claim({ ...request, claimant: 'a' })];
      });
      const archive = join(folder, 'claimed.tar');
      await backUp(placeOf(busy), archive, quiet);
      await restore(placeOf(target), archive, quiet);
      await use(target, async ({ vectors: { context, kb } }) => {
        assert.ok(claimed.every(({ owners }) => owners.length > 0));
        const again = [
          await context.claim({ ...request, claimant: 'b' }),
          await kb.claim({ ...request, claimant: 'b' }),
        ];
        assert.deepEqual(again, claimed);
      });
    });

    test('what was acknowledged before is in it, and one state of what is written meanwhile', async () => {
      const busy = await backend.place();
      const storage = await openStorage(busy);
      opened.push(storage);
      await fillStorage(storage, 5);
      const writing = new AbortController();
      let saved = 0;
      const writer = (async () => {
        while (!writing.signal.aborted) {
          await storage.notes.save({ title: 'more', content: `lighthouse ${saved}`, tags: ['m'], sourceUrls: [] });
          saved += 1;
        }
      })();
      while (saved < 5) await new Promise(setImmediate);
      const acknowledged = saved;
      const during = join(folder, 'during.tar');
      await backUp(placeOf(busy), during, quiet);
      writing.abort();
      await writer;
      assert.ok(saved > acknowledged, 'the writer was not held up');
      const target = await backend.place();
      await restore(placeOf(target), during, quiet);
      await use(target, async (restored) => {
        const { total } = await restored.notes.list({ tags: ['m'], limit: 1, offset: 0 });
        assert.ok(total >= acknowledged && total <= saved, `${acknowledged} <= ${total} <= ${saved}`);
        assert.deepEqual(await restored.check(), []);
      });
    });

    test('content is replaced only with --force, and then whole', async () => {
      const target = await backend.place();
      await use(target, (storage) => fillStorage(storage, 2));
      await refused(restore(placeOf(target), file, quiet), 'storage_not_empty');
      await use(target, async (storage) => assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 2));
      await restore(placeOf(target), file, { ...quiet, force: true });
      await use(target, async (storage) => assert.deepEqual(await contentOf(storage), content));
    });

    test('a database that was only opened counts as empty', async () => {
      const target = await backend.place();
      await use(target, async () => {});
      await restore(placeOf(target), file, quiet);
      await use(target, async (storage) => assert.deepEqual(await contentOf(storage), content));
    });

    test('a bit that changed anywhere, a missing or an additional byte: refused before anything is touched', async () => {
      const bytes = readFileSync(file);
      const broken = join(folder, 'broken.tar');
      const target = await backend.place();
      const positions = [0, 124, 148, 300, 511, 512, 1024, bytes.length - 1100, bytes.length - 1537, bytes.length - 1];
      for (let count = 0; count < 60; count += 1) positions.push(Math.floor((bytes.length * count) / 60));
      for (const position of positions) {
        const flipped = Buffer.from(bytes);
        flipped[position] = (flipped[position] ?? 0) ^ (1 << (position % 8));
        writeFileSync(broken, flipped);
        await refused(verifyBackup(broken), 'invalid_backup');
      }
      for (const length of [0, 1, 511, 512, 5000, bytes.length - 1024, bytes.length - 1]) {
        writeFileSync(broken, bytes.subarray(0, length));
        await refused(restore(placeOf(target), broken, { ...quiet, force: true }), 'invalid_backup');
      }
      writeFileSync(broken, Buffer.concat([bytes, Buffer.alloc(1)]));
      await refused(restore(placeOf(target), broken, { ...quiet, force: true }), 'invalid_backup');
      if (target.backend === 'sqlite') assert.equal(existsSync(target.path), false);
    });

    test('a backup whose rows are not what it says is refused, although its checksum is right', async () => {
      const target = await backend.place();
      await use(target, (storage) => fillStorage(storage, 1));
      const forged = join(folder, 'forged.tar');
      await rewriteBackup(file, forged, (manifest) => ({
        ...manifest,
        tables: manifest.tables.map((table) => (table.name === 'notes' ? { ...table, rows: 11 } : table)),
      }));
      await refused(restore(placeOf(target), forged, { ...quiet, force: true }), 'invalid_backup');
      await use(target, async (storage) => assert.equal((await storage.notes.list({ limit: 1, offset: 0 })).total, 1));
    });

    test('a backup of a newer schema or a newer format is refused', async () => {
      const target = await backend.place();
      const newer = join(folder, 'newer.tar');
      await rewriteBackup(file, newer, (manifest) => ({ ...manifest, schema: 9999 }));
      await refused(restore(placeOf(target), newer, quiet), 'storage_newer');
      await rewriteBackup(file, newer, (manifest) => ({ ...manifest, format: 2 as 1 }));
      await refused(restore(placeOf(target), newer, quiet), 'storage_newer');
    });

    test('a backup that claims to be of the other database is refused', async () => {
      const other = join(folder, 'other.tar');
      await rewriteBackup(file, other, (manifest) => ({
        ...manifest,
        backend: backend.name === 'sqlite' ? 'postgres' : 'sqlite',
      }));
      const target = await backend.place();
      await refused(restore(placeOf(target), other, quiet), 'invalid_backup');
    });

    test('neither the database nor what is no file is overwritten, even with --force', async () => {
      const place = placeOf(source);
      const own = place.storage.backend === 'sqlite' ? [place.storage.path, `${place.storage.path}-wal`] : [];
      if (own[0] !== undefined) symlinkSync(own[0], join(folder, 'alias'));
      const others = [...own, ...(own.length > 0 ? [join(folder, 'alias'), join(place.originals, 'x')] : []), folder];
      for (const other of others) await refused(backUp(place, other, { ...quiet, force: true }), 'invalid_usage');
      if (place.storage.backend === 'sqlite') {
        const { path } = place.storage;
        symlinkSync(dirname(path), join(folder, 'folder'));
        const linked = join(folder, 'folder', basename(path));
        const byLink = { ...place, storage: { ...place.storage, path: linked } };
        for (const [by, wal] of [
          [byLink, linked],
          [byLink, path],
          [place, linked],
        ] as const) {
          for (const suffix of ['-wal', '-journal']) {
            await refused(backUp(by, wal + suffix, { ...quiet, force: true }), 'invalid_usage');
          }
        }
      }
      await backUp(place, file, { ...quiet, force: true });
      // With the name of the database at the start, as people name copies of it.
      if (own[0] !== undefined) await backUp(place, `${own[0]}-monday`, quiet);
    });

    test("the file is its owner's alone, is not overwritten, and nothing is left beside it", async () => {
      assert.equal(statSync(file).mode & 0o777, 0o600);
      await refused(backUp(placeOf(source), file, quiet), 'invalid_usage');
      await backUp(placeOf(source), file, { ...quiet, force: true });
      await verifyBackup(file);
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.includes('.tmp')),
        [],
      );
    });
  },
  'server',
);

describe('verifying a backup', () => {
  const folder = temporaryFolder();
  test('a file that is no backup is refused', async () => {
    const file = join(folder, 'text');
    writeFileSync(file, 'not a backup\n'.repeat(1000));
    await assert.rejects(verifyBackup(file), /not a Carrel backup/);
  });
});
