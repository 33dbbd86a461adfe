import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeFolder } from '../../test/support/child-program.ts';
import { silentLogger } from '../base/log.ts';
import { Secret } from '../base/secret.ts';
import type { Storage } from '../storage/storage.ts';
import { openConfiguredStorage, storageLocation, withoutCredentials } from './configured-storage.ts';

const root = makeFolder({ after });

const settings = { backend: 'sqlite', language: 'auto', postgresUrl: undefined, postgresReadUrl: undefined } as const;

function open(dataDir: string, path?: string): Promise<Storage> {
  return openConfiguredStorage({ ...settings, path }, dataDir, silentLogger);
}

async function addBytes(storage: Storage, text: string): Promise<{ hash: string; job: number }> {
  const staged = await storage.originals.stage(once(text), { bytesMax: 1000 });
  const names = { filename: 'a.txt', title: undefined, docType: undefined, sourcePath: undefined };
  const accepted = await storage.ingestion.accept({
    ...names,
    contentType: 'text/plain',
    tags: [],
    content: { staged },
  });
  assert.ok(accepted.outcome === 'accepted');
  return { hash: staged.hash, job: accepted.job.id };
}

test("a second database in a data folder doesn't touch the files of the first", async () => {
  const dataDir = join(root, 'two');
  const first = await open(dataDir);
  const { hash } = await addBytes(first, 'of the first');
  const second = await open(dataDir, join(dataDir, 'second.db'));
  assert.equal(await second.originals.sweep(), 0);
  // The same content exists in both databases; the second no longer needs it.
  const twin = await addBytes(second, 'of the first');
  await second.ingestion.cancel({ id: twin.job });
  await second.originals.release([twin.hash]);
  assert.equal(await second.originals.open(hash), undefined);
  const own = await addBytes(second, 'of the second');
  assert.equal(await first.originals.sweep(), 0);
  assert.equal(await textIn(first, hash), 'of the first');
  assert.equal(await textIn(second, own.hash), 'of the second');
  await Promise.all([first.close(), second.close()]);
});

test('rejects a read replica for SQLite', () => {
  const postgresReadUrl = new Secret('postgres://user:password@replica/carrel');
  assert.throws(() => storageLocation({ ...settings, path: undefined, postgresReadUrl }, root), {
    code: 'invalid_config',
    message: /DATABASE_READ_URL .* STORAGE_BACKEND/,
  });
});

test('the default database has the same files for every path to its folder', async () => {
  const dataDir = join(root, 'named');
  await (await open(dataDir)).close();
  const link = join(root, 'link');
  symlinkSync(dataDir, link);
  const location = storageLocation({ ...settings, path: join(dataDir, 'carrel.db') }, link);
  assert.equal(location.backend === 'sqlite' && location.documentsDir, join(link, 'documents'));
});

async function textIn(storage: Storage, hash: string): Promise<string> {
  const original = await storage.originals.open(hash);
  assert.ok(original !== undefined, 'its bytes are gone');
  const parts: Uint8Array[] = [];
  for await (const part of original.content) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

test('shows addresses without user, password and options', () => {
  assert.equal(withoutCredentials('postgres://me:secret@db.example:5432/carrel?sslkey=x'), 'db.example:5432/carrel');
  assert.equal(withoutCredentials('host=db password=secret'), 'as configured');
});
