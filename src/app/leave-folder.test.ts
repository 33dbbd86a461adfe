import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

test('a server leaves its start folder unless threads need files in it', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-leave-')));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const dataDir = join(folder, 'data');
  mkdirSync(dataDir);
  writeFileSync(join(folder, 'trace.cjs'), '');
  mkdirSync(join(folder, 'node_modules'));
  writeFileSync(join(folder, 'node_modules', 'tracer.js'), '');
  const script = `
    import { Worker } from 'node:worker_threads';
    import { leaveFolder } from ${JSON.stringify(import.meta.resolve('./leave-folder.ts'))};
    leaveFolder({ dataDir: ${JSON.stringify(dataDir)} });
    new Worker('', { eval: true, execArgv: [] });
    process.stdout.write(process.cwd() + ' ' + process.env.PGPASSFILE);`;
  const folderWith = async (options: string) => {
    const env = { ...process.env, NODE_OPTIONS: options, PGPASSFILE: 'passwords' };
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
    const [found = '', passwords = ''] = stdout.split(' ');
    // libpq resolves the file against the start folder, not the server's.
    assert.equal(resolve(found, passwords), join(folder, 'passwords'));
    return found;
  };
  const cases: [string, string][] = [
    ['', dataDir],
    [`--max-old-space-size=200 --require ${join(folder, 'trace.cjs')}`, dataDir],
    [`--require="${join(folder, 'trace.cjs')}"`, dataDir],
    ['--max-old-space-size=200 --require ./trace.cjs', folder],
    ['--require=tracer', folder],
    ['-r "tracer"', folder],
  ];
  const found = await Promise.all(cases.map(async ([options]) => [options, await folderWith(options)]));
  assert.deepEqual(found, cases);
});
