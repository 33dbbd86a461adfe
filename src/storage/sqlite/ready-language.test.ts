import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeFolder } from '../../../test/support/child-program.ts';
import { readyLanguage } from './ready-language.ts';
import { loadSqlite } from './sqlite-module.ts';
import { createSqliteStorage } from './sqlite-storage.ts';

const folder = makeFolder({ after });

async function madeFile(name: string, change?: string): Promise<string> {
  const path = join(folder, name);
  await (await createSqliteStorage({ path, language: 'german' })).close();
  if (change === undefined) return path;
  const connection = new (loadSqlite().DatabaseSync)(path);
  connection.exec(change);
  connection.close();
  return path;
}

test('returns the language of an up-to-date database, unless another one is requested', async () => {
  const path = await madeFile('current.db');
  assert.equal(readyLanguage(path, undefined), 'german');
  assert.equal(readyLanguage(path, 'german'), 'german');
  assert.equal(readyLanguage(path, 'french'), undefined);
});

test('returns undefined for a database that must be created, migrated or rejected', async () => {
  assert.equal(readyLanguage(join(folder, 'none.db'), undefined), undefined);
  const inTheWay = join(folder, 'folder.db');
  mkdirSync(inTheWay, { mode: 0o755 });
  assert.equal(readyLanguage(inTheWay, undefined), undefined);
  assert.equal(statSync(inTheWay).mode & 0o777, 0o755);
  const garbage = join(folder, 'garbage.db');
  writeFileSync(garbage, 'No database. '.repeat(500));
  assert.equal(readyLanguage(garbage, undefined), undefined);
  assert.equal(readyLanguage(await madeFile('old.db', 'PRAGMA user_version = 7'), undefined), undefined);
  assert.equal(readyLanguage(await madeFile('newer.db', 'PRAGMA user_version = 99'), undefined), undefined);
  assert.equal(readyLanguage(await madeFile('foreign.db', 'PRAGMA application_id = 7'), undefined), undefined);
  const otherwise = await madeFile(
    'other-analysis.db',
    "UPDATE settings SET value = '0 german' WHERE name = 'word_analysis'",
  );
  assert.equal(readyLanguage(otherwise, undefined), undefined);
});

test('makes the file private', async () => {
  const path = await madeFile('open.db');
  chmodSync(path, 0o644);
  readyLanguage(path, undefined);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});
