import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { settledLanguage } from './settled-language.ts';
import { loadSqlite } from './sqlite-module.ts';
import { createSqliteStorage } from './sqlite-storage.ts';

const folder = mkdtempSync(join(tmpdir(), 'carrel-settled-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function madeFile(name: string, change?: string): Promise<string> {
  const path = join(folder, name);
  await (await createSqliteStorage({ path, language: 'german' })).close();
  if (change === undefined) return path;
  const connection = new (loadSqlite().DatabaseSync)(path);
  connection.exec(change);
  connection.close();
  return path;
}

test('a database of ours that needs no change is settled, in its own language unless another one is wanted', async () => {
  const path = await madeFile('settled.db');
  assert.equal(settledLanguage(path, undefined), 'german');
  assert.equal(settledLanguage(path, 'german'), 'german');
  assert.equal(settledLanguage(path, 'french'), undefined);
});

test('what must be made, changed or refused first is not settled', async () => {
  assert.equal(settledLanguage(join(folder, 'none.db'), undefined), undefined);
  const inTheWay = join(folder, 'folder.db');
  mkdirSync(inTheWay, { mode: 0o755 });
  assert.equal(settledLanguage(inTheWay, undefined), undefined);
  assert.equal(statSync(inTheWay).mode & 0o777, 0o755);
  const garbage = join(folder, 'garbage.db');
  writeFileSync(garbage, 'No database. '.repeat(500));
  assert.equal(settledLanguage(garbage, undefined), undefined);
  assert.equal(settledLanguage(await madeFile('old.db', 'PRAGMA user_version = 8'), undefined), undefined);
  assert.equal(settledLanguage(await madeFile('newer.db', 'PRAGMA user_version = 99'), undefined), undefined);
  assert.equal(settledLanguage(await madeFile('foreign.db', 'PRAGMA application_id = 7'), undefined), undefined);
  const otherwise = await madeFile('cut-otherwise.db', "UPDATE word_analysis SET stamp = '0 german'");
  assert.equal(settledLanguage(otherwise, undefined), undefined);
});

test('the look takes other people’s permission to read', async () => {
  const path = await madeFile('open.db');
  chmodSync(path, 0o644);
  settledLanguage(path, undefined);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});
