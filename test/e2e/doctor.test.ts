import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { openStorage } from '../../src/storage/open-storage.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';
import { fillStorage } from '../support/stored-content.ts';

interface Check {
  name: string;
  ok: boolean;
  found: string;
  remedy?: string;
}

test('contract §9: doctor reports a missing database without creating it', (t) => {
  const { path, doctor } = setUp(t);
  assert.match(doctor().database.found, /created at the first start$/);
  assert.equal(existsSync(path), false);
});

test('contract §9: doctor checks the database, and reports models with vectors, pending texts, and an index that does not match the texts', async (t) => {
  const { path, doctor } = setUp(t);
  const storage = await openStorage({ backend: 'sqlite', path });
  await fillStorage(storage, 6);
  await storage.close();
  const intact = doctor();
  assert.equal(intact.code, 0);
  for (const { name, remedy } of intact.checks) assert.equal(remedy, undefined, `${name} is fine`);
  assert.match(intact.database.found, /carrel\.db: SQLite \S+, schema \d+, \d+\.\d MB, intact$/);
  const meaning = intact.checks.filter(({ name }) => name === 'meaning').map(({ found }) => found);
  assert.deepEqual(meaning, ['context: m, 1 vectors of 3 dimensions, 4 texts not embedded yet']);

  const file = new DatabaseSync(path);
  file.exec("UPDATE note_terms SET body = 'other'");
  file.close();
  const { code, database } = doctor();
  assert.equal(code, 78);
  assert.match(database.found, /note_words does not match/);
  assert.match(database.remedy ?? '', /carrel restore <backup> --force/);
});

test('contract §9: doctor distinguishes damaged, foreign and newer files', (t) => {
  const damaged = setUp(t);
  writeFileSync(damaged.path, 'no database\n'.repeat(500));
  assert.match(damaged.doctor().database.remedy ?? '', /carrel restore/);
  const foreign = setUp(t);
  new DatabaseSync(foreign.path).exec('CREATE TABLE theirs (a)');
  assert.match(foreign.doctor().database.remedy ?? '', /DB_PATH/);
  const newer = setUp(t);
  new DatabaseSync(newer.path).exec(
    'PRAGMA application_id = 0x43617272; PRAGMA user_version = 9999; CREATE TABLE t (a)',
  );
  assert.match(newer.doctor().database.remedy ?? '', /upgrade Carrel/);
});

test('contract §9: doctor reports that PostgreSQL does not answer, without its address', (t) => {
  const { doctor } = setUp(t);
  const { code, database } = doctor({
    STORAGE_BACKEND: 'postgresql',
    DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/d',
  });
  assert.equal(code, 78);
  assert.match(database.found, /does not answer/);
  assert.doesNotMatch(JSON.stringify(database), /hidden|127\.0\.0\.1/);
});

test('contract §9: doctor and config show no secret of an address', (t) => {
  const dataDir = makeFolder(t);
  const env = cleanEnv(dataDir, {
    EMBEDDING_PROVIDER: 'none',
    KB_ENGINE_URL: 'http://127.0.0.1:1/?key=hidden-a',
    SEARXNG_URL: 'http://127.0.0.1:1/?token=hidden-b',
    OLLAMA_HOST: 'http://user:hidden-c@127.0.0.1:1',
    OPENAI_API_BASE: 'http://127.0.0.1:1/v1?api_key=hidden-d',
    DATABASE_URL: 'postgres://user:hidden-e@127.0.0.1:1/d',
  });
  for (const args of [['doctor'], ['doctor', '--json'], ['config'], ['config', '--json']]) {
    const { stdout, stderr } = spawnSync(process.execPath, [carrelProgram, ...args, '--port', '0'], {
      env,
      encoding: 'utf8',
    });
    assert.match(stdout, /127\.0\.0\.1/, 'the address itself is shown');
    assert.doesNotMatch(stdout + stderr, /hidden/, args.join(' '));
  }
});

test("a rejected address's secrets are not repeated", (t) => {
  const dataDir = makeFolder(t);
  for (const variable of ['SEARXNG_URL', 'KB_ENGINE_URL', 'SERPER_URL', 'BRAVE_URL', 'DUCKDUCKGO_URL']) {
    const env = cleanEnv(dataDir, { [variable]: 'http://user:hidden@127.0.0.1:1' });
    const { status, stderr } = spawnSync(process.execPath, [carrelProgram, 'config'], { env, encoding: 'utf8' });
    assert.equal(status, 78);
    assert.match(stderr, new RegExp(`${variable} must not contain a user name or password`));
    assert.doesNotMatch(stderr, /hidden/);
  }
});

function setUp(t: TestContext) {
  const dataDir = join(makeFolder(t), 'data');
  mkdirSync(dataDir);
  const doctor = (env: Record<string, string> = {}) => {
    const { status: code, stdout } = spawnSync(
      process.execPath,
      [carrelProgram, 'doctor', 'context', '--json', '--port', '0'],
      { env: cleanEnv(dataDir, { EMBEDDING_PROVIDER: 'none', ...env }), encoding: 'utf8' },
    );
    const { checks }: { checks: Check[] } = JSON.parse(stdout);
    const database = checks.find(({ name }) => name === 'database');
    assert.ok(database);
    return { code, checks, database };
  };
  return { path: join(dataDir, 'carrel.db'), doctor };
}
