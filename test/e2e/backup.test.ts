import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createBareRpc } from '../support/bare-rpc.ts';
import { carrelProgram, cleanEnv, makeFolder, startCarrel } from '../support/child-program.ts';

test('contract §9: carrel backup runs beside a server, and carrel restore brings its notes back', async (t) => {
  const { dataDir, run } = place(t);
  const file = join(makeFolder(t), 'backup.tar');
  const server = await startCarrel(t, ['research'], { dataDir });
  const saved = await createBareRpc(server.url).result('save_note', { title: 'kept', content: 'a lighthouse' });
  const backedUp = run('backup', file, '--json');
  assert.equal(backedUp.status, 0, backedUp.stderr);
  const report = JSON.parse(backedUp.stdout);
  assert.deepEqual([report.file, report.backend, report.rows.notes], [file, 'sqlite', 1]);
  assert.equal(backedUp.stderr, '', 'no progress where nobody watches');

  const inUse = run('restore', file, '--force');
  assert.equal(inUse.status, 1);
  assert.match(inUse.stderr, /^carrel: A process has the database open\. Stop Carrel.*\n$/);

  const elsewhere = place(t);
  const restored = elsewhere.run('restore', file);
  assert.equal(restored.status, 0, restored.stderr);
  assert.match(restored.stdout, /^restored from .*: \d+ rows in \d+ tables, schema \d+, \d+ bytes\n$/);
  const second = await startCarrel(t, ['research'], { dataDir: elsewhere.dataDir });
  const listed = await createBareRpc(second.url).result('list_notes', { query: 'lighthouse' });
  const [id = 'none'] = /[0-9a-f-]{36}/.exec(JSON.stringify(saved)) ?? [];
  assert.match(JSON.stringify(listed), new RegExp(id));
});

test('contract §1: what cannot be backed up or restored is one clear line and an exit code', (t) => {
  const { dataDir, run } = place(t);
  const folder = makeFolder(t);
  const text = join(folder, 'text');
  writeFileSync(text, 'text');
  const cases: [number, RegExp, string[]][] = [
    [2, /needs the file/, ['backup']],
    [2, /needs the file/, ['restore']],
    [2, /exists already/, ['backup', text]],
    [2, /is no file/, ['restore', join(folder, 'missing')]],
    [2, /unexpected word/, ['restore', text, text]],
    [2, /unknown flag/, ['backup', text, '--port', '1']],
    [78, /There is no database at .*carrel\.db/, ['backup', join(folder, 'new.tar')]],
    [1, /no backup of Carrel/, ['restore', text]],
    [2, /cannot be made/, ['backup', join(text, 'below', 'it')]],
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

function place(t: TestContext) {
  const dataDir = join(makeFolder(t), 'data');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [carrelProgram, ...args], { env: cleanEnv(dataDir), encoding: 'utf8' });
  return { dataDir, run };
}
