import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDisk, makeRunFolder, removeAbandonedFolders, removeFolder } from '../../bench/soak/run-folder.ts';
import { temporaryFolder } from '../support/backends.ts';

const isMounted = (path: string): boolean => readFileSync('/proc/self/mounts', 'utf8').includes(` ${path} `);

test('a soak removes the folder and disk of a killed run, but not those of an active run', {
  skip: process.platform !== 'linux',
}, async () => {
  const within = temporaryFolder();
  const module = join(import.meta.dirname, '../../bench/soak/run-folder.ts');
  const script = `const { makeDisk, makeRunFolder } = await import(${JSON.stringify(module)});
    const folder = makeRunFolder(${JSON.stringify(within)});
    console.log(JSON.stringify({ folder, ...makeDisk(folder) }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const left = JSON.parse(String(line));
  const own = makeRunFolder(within);
  const disk = makeDisk(own);
  const unmarked = join(within, 'carrel-soak-unmarked');
  mkdirSync(unmarked);
  writeFileSync(join(unmarked, 'kept'), '');
  try {
    assert.equal(isMounted(left.path), left.isMounted);
    removeAbandonedFolders(within);
    assert.equal(existsSync(left.folder), true, 'its run is still active');
    child.kill('SIGKILL');
    await once(child, 'exit');
    removeAbandonedFolders(within);
    assert.equal(isMounted(left.path), false);
    assert.equal(existsSync(left.folder), false);
    assert.equal(isMounted(disk.path), disk.isMounted);
    assert.ok(existsSync(disk.path) && existsSync(join(unmarked, 'kept')));
  } finally {
    removeFolder(own);
    if (existsSync(left.folder)) removeFolder(left.folder);
  }
});
