import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hashFile, readOnce } from '../../src/cli/add/add-files.ts';
import { findFiles } from '../../src/cli/add/find-files.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';

// Someone runs Carrel in a folder that someone else prepared, such as a freshly cloned repository.

const hostileEnv = {
  HOST: '0.0.0.0',
  CARREL_HOST: '0.0.0.0',
  CARREL_HOME: '/tmp/elsewhere',
  CARREL_TRANSPORT: 'http',
  CARREL_ALLOWED_HOSTS: 'evil.example',
  CARREL_ALLOWED_ORIGINS: 'https://evil.example',
  CARREL_AUTH_TOKEN: 'chosen-by-somebody-else',
  SERPER_URL: 'https://evil.example/search',
  BRAVE_URL: 'https://evil.example/search',
  DUCKDUCKGO_URL: 'https://evil.example/search',
  SEARXNG_URL: 'https://evil.example/search',
  FETCH_ALLOW_PRIVATE: '127.0.0.1',
  DB_PATH: './stolen.db',
  OLLAMA_HOST: 'https://evil.example',
  OPENAI_API_BASE: 'https://evil.example/v1',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://evil.example',
};

interface Shown {
  dataDir: string;
  settings: Record<string, { value: unknown; source: string }>;
}

function configIn(folder: string, dataDir: string, ...args: string[]): Shown & { stderr: string } {
  const { stdout, stderr } = spawnSync(process.execPath, [carrelProgram, 'config', 'research', '--json', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...cleanEnv(dataDir, { HOME: dataDir, SERPER_API_KEY: 'the-key-of-the-user' }), CARREL_HOME: '' },
    timeout: 60_000,
  });
  return { ...JSON.parse(stdout), stderr };
}

test('a .env in the current folder sets no address, path or access', (t) => {
  const [folder, dataDir] = [makeFolder(t), makeFolder(t)];
  const before = configIn(folder, dataDir);
  const lines = Object.entries({ ...hostileEnv, MAX_SEARCH_RESULTS: '3' }).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
  const { dataDir: chosen, settings, stderr } = configIn(folder, dataDir);
  assert.equal(chosen, before.dataDir);
  const changed = Object.keys(settings).filter((name) => settings[name]?.source !== before.settings[name]?.source);
  assert.deepEqual(changed, ['research.maxSearchResults']);
  assert.match(stderr, /HOST, .*SERPER_URL.* can't be set in a \.env file/);
  const onStdio = configIn(folder, dataDir, '--transport', 'stdio').settings;
  assert.equal(onStdio['research.maxSearchResults']?.source, 'default');
});

test('rejects a .env that is a pipe instead of waiting for it', { skip: process.platform === 'win32' }, (t) => {
  const [folder, dataDir] = [makeFolder(t), makeFolder(t)];
  execFileSync('mkfifo', [join(folder, '.env')]);
  const { status, stderr } = spawnSync(process.execPath, [carrelProgram, 'config', 'research'], {
    ...{ cwd: folder, encoding: 'utf8', env: cleanEnv(dataDir), timeout: 60_000 },
  });
  assert.equal(status, 78);
  assert.match(stderr, /Can't read the \.env file/);
});

test('add reads no pipe and no device as .gitignore', { skip: process.platform === 'win32' }, (t) => {
  const folder = makeFolder(t);
  for (const name of ['pipe', 'device', 'plain']) mkdirSync(join(folder, name));
  execFileSync('mkfifo', [join(folder, 'pipe', '.gitignore')]);
  symlinkSync('/dev/zero', join(folder, 'device', '.gitignore'));
  writeFileSync(join(folder, 'plain', '.gitignore'), '*.log\n');
  for (const name of ['pipe', 'device', 'plain']) {
    for (const file of ['a.md', 'b.log']) writeFileSync(join(folder, name, file), 'text');
  }
  // In a process that can be killed: a fault here would wait forever.
  const script = `import { findFiles } from ${JSON.stringify(join(import.meta.dirname, '../../src/cli/add/find-files.ts'))};
    console.log(findFiles([${JSON.stringify(folder)}], { include: [], exclude: [] }).files.map(({ path }) => path).join());`;
  const args = ['--input-type=module', '-e', script];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  const names = ['device/a.md', 'device/b.log', 'pipe/a.md', 'pipe/b.log', 'plain/a.md'];
  assert.equal(stdout.trim(), names.map((name) => join(folder, name)).join());
});

test('add reads nothing outside a folder, when a part of it becomes a link between listing and reading', async (t) => {
  const [folder, outside] = [makeFolder(t), makeFolder(t)];
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub', 'a.md'), 'inside');
  writeFileSync(join(outside, 'a.md'), 'secret');
  const selection = { include: [], exclude: [] };
  const [inside] = findFiles([folder], selection).files;
  assert.ok(inside);
  assert.ok(await hashFile(inside));
  renameSync(join(folder, 'sub'), join(folder, 'old'));
  symlinkSync(outside, join(folder, 'sub'));
  assert.equal(await hashFile(inside), undefined);
  await assert.rejects(
    async () => {
      for await (const _ of readOnce(inside).content);
    },
    { code: 'upload_conflict' },
  );
  // As if it had also been a link while the folder was listed.
  const [target] = findFiles([join(outside, 'a.md')], selection).files;
  assert.ok(target);
  assert.equal(await hashFile({ ...target, path: inside.path }), undefined);
});
