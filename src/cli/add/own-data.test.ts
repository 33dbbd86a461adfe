import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { engineSlices } from '../../app/open-engine.ts';
import { loadConfig } from '../../config/load.ts';
import { findFiles } from './find-files.ts';
import { ownDataOf } from './own-data.ts';

test('contract §9: adding a parent folder skips the data folder and the database', (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-own-')));
  t.after(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  const own = ['store/log/carrel.log', 'real.db', 'real.db-wal', 'other.db-documents/ab/abc'];
  for (const path of [...own, 'a.txt', 'store2/b.txt', 'other.db.txt']) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), 'text');
  }
  symlinkSync('real.db', join(root, 'other.db'));
  const config = loadConfig({
    slices: engineSlices,
    flags: { 'data-dir': join(root, 'store') },
    env: { DB_PATH: join(root, 'other.db') },
  });
  const selection = { include: [], exclude: [], isOwnData: ownDataOf(config) };
  const { files, skipped } = findFiles([root, join(root, 'other.db'), join(root, 'real.db')], selection);
  assert.deepEqual(
    files.map(({ path }) => basename(path)),
    ['a.txt', 'other.db.txt', 'b.txt'],
  );
  assert.equal(skipped.excluded, 6);
});
