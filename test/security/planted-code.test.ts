import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { version } from '../../src/base/package-info.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';

// Cached code is run without checks, and a data folder may come from anywhere: a backup, an archive, another user.

const handshake = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
];

function serve(dataDir: string, env: Record<string, string> = {}): void {
  const { status, stdout } = spawnSync(process.execPath, [carrelProgram, 'serve', '--transport', 'stdio'], {
    input: handshake.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
    encoding: 'utf8',
    env: cleanEnv(dataDir, env),
  });
  assert.equal(status, 0);
  assert.match(stdout, /"id":2/);
}

/** Sets the access time before the write time, so that a read changes it (`relatime`). */
function forgetReads(path: string): void {
  utimesSync(path, new Date('2001-01-01'), new Date('2020-01-01'));
}

function wasRead(path: string): boolean {
  return statSync(path).atime.getFullYear() !== 2001;
}

test('code planted in the cache of a data folder is neither run nor read', (t) => {
  const dataDir = makeFolder(t);
  const cache = join(dataDir, 'cache');
  const folders = [cache, join(cache, `code-${version}`), join(cache, `${process.version}-${process.arch}`)];
  for (const folder of folders) mkdirSync(folder);
  const names = ['serve', 'context', 'search', 'main.js', 'ae95ecea'];
  const files = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  for (const file of files) writeFileSync(file, 'process.exit(3)');
  const control = join(dataDir, 'control');
  writeFileSync(control, '');
  for (const path of [...files, ...folders.toReversed(), control]) forgetReads(path);
  serve(dataDir);
  const read = [...folders, ...files].filter(wasRead);
  readFileSync(control);
  assert.deepEqual(read, []);
  if (!wasRead(control)) t.diagnostic('this file system does not record reads');
  assert.deepEqual(
    files.filter((file) => readFileSync(file, 'utf8') !== 'process.exit(3)'),
    [],
  );
});

test('compiled code is kept only in a cache folder that nobody else can write to', { skip: isWindows() }, (t) => {
  const caches = makeFolder(t);
  const env = { XDG_CACHE_HOME: caches };
  const own = join(caches, 'carrel');
  mkdirSync(own);
  for (const mode of [0o770, 0o702]) {
    chmodSync(own, mode);
    serve(makeFolder(t), env);
    assert.deepEqual(readdirSync(own), [], mode.toString(8));
  }
  chmodSync(own, 0o755);
  serve(makeFolder(t), env);
  assert.equal(readdirSync(own).length, 1);
});

test('creates nothing if the user has no cache folder, or a relative one', (t) => {
  const home = makeFolder(t);
  serve(home, { XDG_CACHE_HOME: 'relative' });
  assert.equal(existsSync('relative'), false);
  assert.equal(existsSync(join(home, '.cache')), false);
});

function isWindows(): boolean {
  return process.platform === 'win32';
}
