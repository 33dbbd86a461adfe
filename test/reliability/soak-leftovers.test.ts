import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeDisk, makeOwnFolder, removeFolder, removeLeftBehind } from '../../bench/soak/own-folder.ts';
import { temporaryFolder } from '../support/backends.ts';

const isMounted = (path: string): boolean => readFileSync('/proc/self/mounts', 'utf8').includes(` ${path} `);

test('a soak that was killed leaves its disk mounted until the next one; a soak that runs keeps its own', {
  skip: process.platform !== 'linux',
}, async () => {
  const within = temporaryFolder();
  const module = join(import.meta.dirname, '../../bench/soak/own-folder.ts');
  const script = `const { makeDisk, makeOwnFolder } = await import(${JSON.stringify(module)});
    const folder = makeOwnFolder(${JSON.stringify(within)});
    console.log(JSON.stringify({ folder, ...makeDisk(folder) }));
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const left = JSON.parse(String(line));
  const own = makeOwnFolder(within);
  const disk = makeDisk(own);
  const unmarked = join(within, 'carrel-soak-unmarked');
  mkdirSync(unmarked);
  writeFileSync(join(unmarked, 'kept'), '');
  try {
    assert.equal(isMounted(left.path), left.isMounted);
    removeLeftBehind(within);
    assert.equal(existsSync(left.folder), true, 'its run goes on');
    child.kill('SIGKILL');
    await once(child, 'exit');
    removeLeftBehind(within);
    assert.equal(isMounted(left.path), false);
    assert.equal(existsSync(left.folder), false);
    assert.equal(isMounted(disk.path), disk.isMounted);
    assert.ok(existsSync(disk.path) && existsSync(join(unmarked, 'kept')));
  } finally {
    removeFolder(own);
    if (existsSync(left.folder)) removeFolder(left.folder);
  }
});
