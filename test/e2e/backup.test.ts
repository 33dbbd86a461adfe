import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { readLastBackup } from '../../src/storage/backup/last-backup.ts';
import { createBareRpc } from '../support/bare-rpc.ts';
import { carrelProgram, cleanEnv, makeFolder, startCarrel } from '../support/child-program.ts';
import { runOnTerminal } from '../support/terminal.ts';

test('contract §9: carrel backup runs beside a server, and carrel restore brings its notes, documents and originals back', async (t) => {
  const [from, to] = [setUp(t), setUp(t)];
  const folder = makeFolder(t);
  const file = join(folder, 'backup.tar');
  const text = join(folder, 'ferry.md');
  writeFileSync(text, '# Ferries\n\nThe ferry to Elba leaves at dawn.\n');
  const server = await startCarrel(t, ['research'], { dataDir: from.dataDir });
  const saved = await createBareRpc(server.url).result('save_note', { title: 'kept', content: 'a lighthouse' });
  assert.equal(from.run('add', text).status, 0);
  const backedUp = from.run('backup', file, '--json');
  assert.equal(backedUp.status, 0, backedUp.stderr);
  const report = JSON.parse(backedUp.stdout);
  assert.deepEqual([report.file, report.backend, report.rows.notes, report.files], [file, 'sqlite', 1, 1]);
  assert.equal(backedUp.stderr, '', 'no progress where nobody watches');
  const { createdAt: at, bytes } = report;
  assert.deepEqual(readLastBackup(from.dataDir), { at, file, bytes });

  const inUse = from.run('restore', file, '--force');
  assert.equal(inUse.status, 1);
  assert.match(inUse.stderr, /^carrel: A process has the database open\. Stop Carrel.*\n$/);

  const restored = to.run('restore', file);
  assert.equal(restored.status, 0, restored.stderr);
  assert.match(restored.stdout, /^restored from .*: \d+ rows in \d+ tables, 1 files, schema \d+, \d+ bytes\n$/);
  await t.test('restore asks on a terminal before it replaces data, and nowhere else', () => {
    assert.match(to.run('restore', file).stderr, /--force/);
    const refused = runOnTerminal(to.dataDir, ['restore', file], { input: 'n\n' });
    assert.match(refused.stdout, /The database contains 1 document, 1 note\. Replace them all\? \[y\/N\]/);
    assert.equal(refused.status === 0, false);
    assert.match(runOnTerminal(to.dataDir, ['restore', file], { input: 'y\n' }).stdout, /restored from/);
  });

  const [id = 'none'] = /[0-9a-f-]{36}/.exec(JSON.stringify(saved)) ?? [];
  assert.match(to.run('notes', 'lighthouse').stdout, new RegExp(id));
  const engine = await startCarrel(t, ['engine'], { dataDir: to.dataDir });
  const listed = (await (await fetch(`${engine.url}/documents`)).json()) as { documents: { id: number }[] };
  const [document] = listed.documents;
  const original = await fetch(`${engine.url}/documents/${document?.id}/file`);
  assert.equal(await original.text(), readFileSync(text, 'utf8'));
  const found = await fetch(`${engine.url}/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'ferry Elba' }),
  });
  assert.match(await found.text(), /leaves at dawn/);

  await t.test('missing originals are reported, and a database from before the first release is rejected', async () => {
    await server.stop();
    rmSync(join(from.dataDir, 'documents'), { recursive: true });
    const incomplete = from.run('backup', join(folder, 'incomplete.tar'));
    assert.equal(incomplete.status, 0);
    assert.match(incomplete.stderr, /^carrel: The original files of 1 documents are missing/);

    const database = new DatabaseSync(join(from.dataDir, 'carrel.db'));
    database.exec('PRAGMA user_version = 4');
    database.close();
    for (const args of [
      ['backup', join(folder, 'older.tar')],
      ['add', text],
    ]) {
      const result = from.run(...args);
      assert.equal(result.status, 78, result.stderr);
      assert.match(result.stderr, /^carrel: .*schema 4, .*carrel export.*carrel import.*\n$/);
    }
  });
});

test('contract §1: a failed backup or restore is one clear line and an exit code', (t) => {
  const { dataDir, run } = setUp(t);
  const folder = makeFolder(t);
  const text = join(folder, 'text');
  writeFileSync(text, 'text');
  const cases: [number, RegExp, string[]][] = [
    [2, /needs the backup file/, ['backup']],
    [2, /already exists/, ['backup', text]],
    [2, /is not a file/, ['restore', join(folder, 'missing')]],
    [78, /No database found at .*carrel\.db/, ['backup', join(folder, 'new.tar')]],
    [1, /not a Carrel backup/, ['restore', text]],
    [2, /cannot be created/, ['backup', join(text, 'below', 'it')]],
  ];
  for (const [status, message, args] of cases) {
    const result = run(...args);
    assert.equal(result.status, status, `${args.join(' ')}: ${result.stderr}`);
    assert.match(result.stderr, message);
    assert.equal(result.stderr.trimEnd().split('\n').length, 1);
    assert.equal(result.stdout, '');
  }
  assert.equal(existsSync(join(dataDir, 'carrel.db')), false, 'nothing was made');
});

function setUp(t: TestContext) {
  const dataDir = join(makeFolder(t), 'data');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [carrelProgram, ...args], {
      env: cleanEnv(dataDir, { EMBEDDING_PROVIDER: 'none' }),
      encoding: 'utf8',
    });
  return { dataDir, run };
}
