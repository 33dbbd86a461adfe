import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serveHttp } from '../fakes/loopback-server.ts';
import { startOllama } from '../fakes/ollama.ts';
import {
  carrelProgram,
  cleanEnv,
  makeFolder,
  startCarrel,
  startProgram,
  withModels,
} from '../support/child-program.ts';

interface Check {
  name: string;
  ok: boolean;
  found: string;
  remedy?: string;
}

/** doctor's line for one check. Asynchronous, because the servers it asks are in this process. */
async function check(
  t: TestContext,
  name: string,
  env: Record<string, string>,
  options: { role?: string; program?: string; dataDir?: string; port?: number } = {},
) {
  const { role = 'serve', program = carrelProgram, dataDir = join(makeFolder(t), 'data'), port = 0 } = options;
  const { promise, resolve: done } = Promise.withResolvers<{ code: number; stdout: string }>();
  const settings = cleanEnv(dataDir, { EMBEDDING_PROVIDER: 'none', ...env });
  execFile(
    process.execPath,
    [program, 'doctor', role, '--json', '--port', String(port)],
    { env: settings },
    (error, stdout) => done({ code: Number(error?.code ?? 0), stdout }),
  );
  const { code, stdout } = await promise;
  const { checks }: { checks: Check[] } = JSON.parse(stdout);
  const found = checks.find((each) => each.name === name);
  assert.ok(found, stdout);
  for (const each of checks) if (!each.ok) assert.ok(each.remedy, `${each.name} says what to do`);
  return { ...found, code };
}

test('doctor asks Ollama for a vector and detects a missing server or model', async (t) => {
  const away = await check(t, 'model', { EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: 'http://127.0.0.1:9' });
  assert.deepEqual([away.ok, away.code], [false, 78]);
  assert.match(away.found, /^ollama:nomic-embed-text at http:\/\/127\.0\.0\.1:9: /);
  assert.match(away.remedy ?? '', /ollama serve.*ollama pull nomic-embed-text.*OLLAMA_HOST/);

  const ollama = await startOllama(t);
  ollama.mode = 'down';
  const settings = { EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: ollama.origin, EMBEDDING_MODEL: 'absent' };
  const without = await check(t, 'model', settings);
  assert.equal(without.ok, false);
  assert.match(without.remedy ?? '', /ollama pull absent/);

  ollama.mode = 'up';
  const right = await check(t, 'model', settings);
  assert.deepEqual([right.ok, right.found], [true, 'ollama:absent, 32 dimensions, on remote']);
});

test('doctor asks an OpenAI-compatible server, which refuses a missing key', async (t) => {
  const server = await serveHttp(t, (_request, response) => response.writeHead(401).end());
  const refused = await check(t, 'model', { EMBEDDING_PROVIDER: 'openai', OPENAI_API_BASE: `${server.origin}/v1` });
  assert.equal(refused.ok, false);
  assert.match(refused.remedy ?? '', /set OPENAI_API_KEY/);
});

test('doctor detects a search provider without its key, and says once what to do', async (t) => {
  for (const [provider, variable] of Object.entries({
    serper: 'SERPER_API_KEY',
    brave: 'BRAVE_API_KEY',
    searxng: 'SEARXNG_URL',
  })) {
    const missing = await check(t, 'web search', { SEARCH_PROVIDER: provider });
    assert.equal(missing.ok, false);
    assert.equal(missing.found, `SEARCH_PROVIDER=${provider} requires ${variable}`);
    assert.equal(missing.remedy, `set ${variable}, or use SEARCH_PROVIDER=duckduckgo, which needs no key`);
  }
  const right = await check(t, 'web search', { SEARCH_PROVIDER: 'brave', BRAVE_API_KEY: 'a-key' });
  assert.deepEqual([right.ok, right.found], [true, 'brave, then duckduckgo']);
});

test('as root: doctor detects a full and a nearly full disk', { skip: cannotMount() }, async (t) => {
  for (const [size, words, ok] of [
    ['8m', 'full', false],
    ['200m', 'nearly full', true],
  ] as const) {
    const dataDir = makeFolder(t);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dataDir]);
    try {
      const disk = await check(t, 'disk', {}, { dataDir });
      assert.equal(disk.ok, ok);
      assert.match(disk.found, new RegExp(`\\d+ MB free of \\d+ MB at .*: ${words}$`));
      assert.match(disk.remedy ?? '', /free some space/);
    } finally {
      execFileSync('umount', ['-l', dataDir]);
    }
  }
});

test('doctor does not suggest PostgreSQL for a wrong SQLite path', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'file'), 'no folder');
  mkdirSync(join(folder, 'folder'));
  for (const path of ['/proc/none/carrel.db', join(folder, 'file', 'carrel.db'), join(folder, 'folder')]) {
    const database = await check(t, 'database', { DB_PATH: path });
    assert.deepEqual([database.ok, database.code], [false, 78], path);
    assert.match(database.remedy ?? '', /DB_PATH/);
    assert.doesNotMatch(JSON.stringify(database), /postgres/i);
  }
});

test('doctor reports what a lost database left behind', async (t) => {
  const dataDir = makeFolder(t);
  writeFileSync(join(dataDir, 'carrel.db'), '');
  const database = await check(t, 'database', {}, { dataDir });
  assert.equal(database.ok, false);
  assert.match(database.found, /empty/);
  assert.match(database.remedy ?? '', /carrel restore/);
});

test('doctor and the log of a start name the command that brings a missing native model', async (t) => {
  const folder = makeFolder(t);
  for (const part of ['bin', 'dist', 'package.json']) cpSync(part, join(folder, part), { recursive: true });
  symlinkSync(resolve('models'), join(folder, 'models'));
  const program = join(folder, 'bin/carrel.js');
  const model = await check(t, 'model', { EMBEDDING_PROVIDER: 'local' }, { role: 'context', program });
  assert.equal(model.ok, true, 'it works, though slowly');
  assert.match(model.found, /on wasm, which is slow: onnxruntime-node is not installed$/);
  assert.match(model.remedy ?? '', /ONNXRUNTIME_NODE_INSTALL=skip.* npm install /);
  const { waitForOutput } = startOwned(t, program);
  await waitForOutput(/carrel: the model runs in WebAssembly.*ONNXRUNTIME_NODE_INSTALL=skip/);
});

test('doctor finds a broken local model', async (t) => {
  const folder = makeFolder(t);
  for (const part of ['bin', 'dist', 'package.json']) cpSync(part, join(folder, part), { recursive: true });
  cpSync('models', join(folder, 'models'), { recursive: true });
  rmSync(join(folder, 'models/carrel-embedding-1/model.onnx'));
  const program = join(folder, 'bin/carrel.js');
  const model = await check(t, 'model', { EMBEDDING_PROVIDER: 'local' }, { role: 'context', program });
  assert.equal(model.ok, false);
  assert.match(model.remedy ?? '', /reinstall Carrel/);
});

function startOwned(t: TestContext, program: string) {
  const child = startProgram(program, ['context', '--transport', 'http', '--port', '0'], withModels);
  t.after(() => child.stop());
  return child;
}

function cannotMount(): string | false {
  return process.platform === 'linux' && process.getuid?.() === 0 ? false : 'only root can mount a small disk';
}

test('accepts a port used by a running Carrel, but not one used by another program', async (t) => {
  const own = await startCarrel(t, ['serve', '--transport', 'http'], { env: { EMBEDDING_PROVIDER: 'none' } });
  const used = await check(t, 'port', {}, { port: Number(new URL(own.url).port) });
  assert.deepEqual([used.ok, used.code], [true, 0], used.found);
  assert.match(used.found, /is used by a running Carrel$/);
  const other = await serveHttp(t, (_request, response) => response.writeHead(404).end());
  const taken = await check(t, 'port', {}, { port: other.port });
  assert.deepEqual([taken.ok, taken.code], [false, 78], taken.found);
});
