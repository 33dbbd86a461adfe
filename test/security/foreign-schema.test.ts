import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openStorage } from '../../src/storage/open-storage.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';

// The schema of a SQLite file is code written by whoever made the file.

/** An infinite query. */
const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT';
/** Stops a command that reads such a view, which then fails the test. */
const timeout = 60_000;

function run(dataDir: string, ...args: string[]) {
  const env = cleanEnv(dataDir, { EMBEDDING_PROVIDER: 'none' });
  return spawnSync(process.execPath, [carrelProgram, ...args], { encoding: 'utf8', env, timeout });
}

function writeDatabase(path: string, sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

test('import reads a database of mcp-context-server only from plain tables', (t) => {
  const folder = makeFolder(t);
  const entries = `CREATE TABLE context_entries (id INTEGER PRIMARY KEY, thread_id TEXT, source TEXT, text_content TEXT,
    metadata TEXT, summary TEXT, created_at TEXT, updated_at TEXT);`;
  const tags = 'CREATE TABLE tags (context_entry_id INTEGER, tag TEXT);';
  const images = 'CREATE TABLE image_attachments (context_entry_id INTEGER, image_data BLOB, position INTEGER);';
  const row =
    "INSERT INTO context_entries (id, thread_id, source, text_content, created_at) VALUES (1, 't', 'user', 'x', '2025-11-29');";
  const hostile = {
    entries: `CREATE VIEW context_entries AS ${endless} max(i) AS id FROM n; ${tags} ${images}`,
    tags: `${entries} ${row} CREATE VIEW tags AS ${endless} 1 AS context_entry_id, count(*) AS tag FROM n; ${images}`,
    computed: `${entries.replace('summary TEXT', 'summary TEXT AS (hex(zeroblob(400000000)))')} ${tags} ${images} ${row}`,
  };
  for (const [name, sql] of Object.entries(hostile)) {
    const file = join(folder, `${name}.db`);
    writeDatabase(file, sql);
    const { status, stderr } = run(folder, 'import', file);
    assert.match(stderr, /This file format cannot be imported/, name);
    assert.notEqual(status, 0);
  }
  const file = join(folder, 'plain.db');
  writeDatabase(file, entries + tags + images + row);
  assert.match(run(folder, 'import', file).stdout, /^1 entries added/);
});

test('doctor names objects in the database that Carrel did not make, and a backup reads no view', async (t) => {
  const dataDir = makeFolder(t);
  const path = join(dataDir, 'carrel.db');
  await (await openStorage({ backend: 'sqlite', path })).close();
  const found = () => {
    const { checks } = JSON.parse(run(dataDir, 'doctor', '--json', '--port', '0').stdout);
    return checks.find(({ name }: { name: string }) => name === 'database');
  };
  assert.equal(found().ok, true);
  writeDatabase(
    path,
    `CREATE TRIGGER on_token AFTER INSERT ON access_tokens BEGIN UPDATE access_tokens SET rights = '{}'; END;
     CREATE VIEW extra AS SELECT 1;
     ALTER TABLE kb_jobs RENAME TO old_jobs;
     CREATE VIEW kb_jobs AS ${endless} i FROM n;`,
  );
  const { ok, found: message, remedy } = found();
  assert.equal(ok, false);
  for (const name of ['trigger on_token', 'view extra', 'view kb_jobs', 'table old_jobs']) {
    assert.ok(message.includes(name), `${name} in ${message}`);
  }
  assert.match(remedy, /carrel backup/);
  const { status, stderr } = run(dataDir, 'backup', join(dataDir, 'b.tar'));
  assert.match(stderr, /kb_jobs is not a table/);
  assert.notEqual(status, 0);
});
