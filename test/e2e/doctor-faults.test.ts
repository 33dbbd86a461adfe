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

/** doctor's checks by name. Asynchronous, because the servers it asks are in this process. */
async function doctor(
  t: TestContext,
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
  for (const each of checks) if (!each.ok) assert.ok(each.remedy, `${each.name} says what to do`);
  const check = (name: string) => checks.find((each) => each.name === name) ?? assert.fail(stdout);
  return { code, check };
}

test('doctor finds faults of models, search providers, databases and ports, each run one of each', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'file'), 'no folder');
  mkdirSync(join(folder, 'folder'));
  const ollama = await startOllama(t);
  const ofOllama = { EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: ollama.origin, EMBEDDING_MODEL: 'absent' };
  const stranger = await serveHttp(t, (_request, response) => response.writeHead(401).end());

  const away = await doctor(t, {
    ...{ EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: 'http://127.0.0.1:9' },
    ...{ SEARCH_PROVIDER: 'serper', DB_PATH: '/proc/none/carrel.db' },
  });
  ollama.mode = 'down';
  const down = await doctor(t, { ...ofOllama, SEARCH_PROVIDER: 'brave', DB_PATH: join(folder, 'file', 'carrel.db') });
  ollama.mode = 'up';
  const up = await doctor(t, { ...ofOllama, SEARCH_PROVIDER: 'searxng', DB_PATH: join(folder, 'folder') });
  const dataDir = makeFolder(t);
  writeFileSync(join(dataDir, 'carrel.db'), '');
  const refused = await doctor(
    t,
    {
      ...{ EMBEDDING_PROVIDER: 'openai', OPENAI_API_BASE: `${stranger.origin}/v1` },
      ...{ SEARCH_PROVIDER: 'brave', BRAVE_API_KEY: 'a-key' },
    },
    { dataDir, port: stranger.port },
  );
  for (const { code } of [away, down, up, refused]) assert.equal(code, 78);

  await t.test('asks Ollama for a vector and detects a missing server or model', () => {
    const { ok, found, remedy } = away.check('model');
    assert.equal(ok, false);
    assert.match(found, /^ollama:nomic-embed-text at http:\/\/127\.0\.0\.1:9: /);
    assert.match(remedy ?? '', /ollama serve.*ollama pull nomic-embed-text.*OLLAMA_HOST/);
    const without = down.check('model');
    assert.equal(without.ok, false);
    assert.match(without.remedy ?? '', /ollama pull absent/);
    const right = up.check('model');
    assert.deepEqual([right.ok, right.found], [true, 'ollama:absent, 32 dimensions, on remote']);
  });

  await t.test('asks an OpenAI-compatible server, which refuses a missing key', () => {
    const { ok, remedy } = refused.check('model');
    assert.equal(ok, false);
    assert.match(remedy ?? '', /set OPENAI_API_KEY/);
  });

  await t.test('detects a search provider without its key, and says once what to do', () => {
    for (const [{ check }, provider, variable] of [
      [away, 'serper', 'SERPER_API_KEY'],
      [down, 'brave', 'BRAVE_API_KEY'],
      [up, 'searxng', 'SEARXNG_URL'],
    ] as const) {
      const { ok, found, remedy } = check('web search');
      assert.equal(ok, false);
      assert.equal(found, `SEARCH_PROVIDER=${provider} requires ${variable}`);
      assert.equal(remedy, `set ${variable}, or use SEARCH_PROVIDER=duckduckgo, which needs no key`);
    }
    const right = refused.check('web search');
    assert.deepEqual([right.ok, right.found], [true, 'brave, then duckduckgo']);
  });

  await t.test('does not suggest PostgreSQL for a wrong SQLite path', () => {
    for (const { check } of [away, down, up]) {
      const database = check('database');
      assert.equal(database.ok, false);
      assert.match(database.remedy ?? '', /DB_PATH/);
      assert.doesNotMatch(JSON.stringify(database), /postgres/i);
    }
  });

  await t.test('reports what a lost database left behind', () => {
    const { ok, found, remedy } = refused.check('database');
    assert.equal(ok, false);
    assert.match(found, /empty/);
    assert.match(remedy ?? '', /carrel restore/);
  });

  await t.test('accepts a port used by a running Carrel, but not one used by another program', async (own) => {
    assert.equal(refused.check('port').ok, false);
    const running = await startCarrel(own, ['serve', '--transport', 'http'], { env: { EMBEDDING_PROVIDER: 'none' } });
    const { code, check } = await doctor(t, {}, { port: Number(new URL(running.url).port) });
    const used = check('port');
    assert.deepEqual([used.ok, code], [true, 0], used.found);
    assert.match(used.found, /is used by a running Carrel$/);
  });
});

test('as root: doctor detects a full and a nearly full disk', { skip: cannotMount() }, async (t) => {
  for (const [size, words, ok] of [
    ['8m', 'full', false],
    ['200m', 'nearly full', true],
  ] as const) {
    const dataDir = makeFolder(t);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dataDir]);
    try {
      const disk = (await doctor(t, {}, { dataDir })).check('disk');
      assert.equal(disk.ok, ok);
      assert.match(disk.found, new RegExp(`\\d+ MB free of \\d+ MB at .*: ${words}$`));
      assert.match(disk.remedy ?? '', /free some space/);
    } finally {
      execFileSync('umount', ['-l', dataDir]);
    }
  }
});

test('without onnxruntime-node the built program runs its model in WebAssembly; doctor and the log of a start name the command that installs it', async (t) => {
  // No packages are available here, only the contents of dist.
  const folder = makeFolder(t);
  for (const part of ['bin', 'dist', 'package.json']) cpSync(part, join(folder, part), { recursive: true });
  symlinkSync(resolve('models'), join(folder, 'models'));
  const program = join(folder, 'bin/carrel.js');
  const { check } = await doctor(t, { EMBEDDING_PROVIDER: 'local' }, { role: 'context', program });
  const model = check('model');
  assert.equal(model.ok, true, 'it works, though slowly');
  assert.match(
    model.found,
    /^local:carrel-embedding-1, 384 dimensions, on wasm, which is slow: onnxruntime-node is not installed$/,
  );
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
  const { check } = await doctor(t, { EMBEDDING_PROVIDER: 'local' }, { role: 'context', program });
  const model = check('model');
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
