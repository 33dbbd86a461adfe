import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { createBareRpc } from '../support/bare-rpc.ts';
import {
  carrelProgram,
  programCacheEnv,
  startCarrel,
  startListening,
  startProgram,
  withoutModels,
} from '../support/child-program.ts';
import { exchange } from '../support/raw-http.ts';
import { startStdioClient } from '../support/stdio-client.ts';

const folders: string[] = [];
after(() => {
  for (const path of folders) rmSync(path, { recursive: true, force: true, maxRetries: 5 });
});

function folder(files: Record<string, string> = {}): string {
  const path = mkdtempSync(join(tmpdir(), 'carrel-e2e-'));
  folders.push(path);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return path;
}

function run(args: string[], env: Record<string, string> = {}) {
  const home = folder();
  const outcome = spawnSync(process.execPath, [carrelProgram, ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...programCacheEnv, ...withoutModels, ...env },
    input: '',
    encoding: 'utf8',
    timeout: 300_000,
  });
  return { code: outcome.status, out: outcome.stdout, err: outcome.stderr, home };
}

test('an unknown flag, command, value or word ends with 2 and one clear line, and starts nothing (contract §1)', () => {
  const wrong = [
    ['--nope'],
    ['frobnicate'],
    ['--transport', 'pigeon'],
    ['--toolsets', 'nothing'],
    ['config', 'nobody'],
  ];
  for (const args of wrong) {
    const { code, out, err, home } = run(args);
    assert.equal(code, 2, `${args.join(' ')}: ${err}`);
    assert.match(err, /^carrel: [^\n]+\n$/, args.join(' '));
    assert.equal(out, '');
    assert.deepEqual(readdirSync(home), [], 'something was written');
  }
});

test('--version and --help answer on stdout and end with 0', () => {
  assert.match(run(['--version']).out, /^\d+\.\d+\.\d+\n$/);
  const help = run(['--help']);
  assert.equal(help.code, 0);
  for (const word of ['serve', 'fess', 'context', 'kb', 'engine', 'research', 'doctor', '--transport', '--cody']) {
    assert.ok(help.out.includes(word), word);
  }
});

test('a full disk is reported with exit code 69; a closed pipe is not an error (contract §1)', () => {
  const home = folder();
  writeFileSync(join(home, 'memory.jsonl'), '{"type":"entity","name":"a","entityType":"b","observations":["c"]}\n');
  const shell = (script: string) =>
    spawnSync('sh', ['-c', script, process.execPath, carrelProgram], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, ...programCacheEnv, ...withoutModels },
      encoding: 'utf8',
    });
  const imported = shell(`"$0" "$1" import ${join(home, 'memory.jsonl')}`);
  assert.match(imported.stdout, /1 entries added/, imported.stderr);
  for (const command of ['--version', 'export']) {
    const full = shell(`"$0" "$1" ${command} > /dev/full`);
    assert.match(full.stderr, /^carrel: [^\n]*the disk is full[^\n]*\n$/i, command);
    assert.equal(full.status, 69);
  }
  for (const command of ['help', 'export']) {
    assert.equal(shell(`{ "$0" "$1" ${command}; echo "ended $?" >&2; } | true`).stderr, 'ended 0\n', command);
  }
});

test('a command in a removed folder prints one clear line and exits with 2 (contract §1)', () => {
  const home = folder();
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" list';
  const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, carrelProgram], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...programCacheEnv },
    encoding: 'utf8',
  });
  assert.match(stderr, /^carrel: The current folder no longer exists\.[^\n]*\n$/);
  assert.equal(status, 2);
});

test('an invalid configuration exits with 78 and names the file or variable (contract §1, T019)', () => {
  const data = folder({ 'config.json': '{ bad json }' });
  const unwritable = folder();
  const damaged = folder({ 'carrel.db': 'no database, whatever its name says'.repeat(100) });
  const cases: [string[], Record<string, string>, RegExp][] = [
    [['--data-dir', join(unwritable, 'file')], {}, /--data-dir/],
    [['--data-dir', damaged], {}, new RegExp(`^carrel: ${damaged}/carrel\\.db: The database file is damaged`)],
    [['--transport', 'http', '--port', '0'], { CARREL_PATH: 'mcp' }, /CARREL_PATH must start with a slash/],
    [['--transport', 'http', '--host', '0.0.0.0'], {}, /CARREL_AUTH_TOKEN/],
    [
      ['--transport', 'http', '--host', '192.0.2.1', '--port', '0'],
      { CARREL_AUTH_TOKEN: 'a-token-that-is-long-enough' },
      /no such address/,
    ],
  ];
  writeFileSync(join(unwritable, 'file'), 'not a folder');
  for (const [args, env, expected] of cases) {
    const { code, out, err } = run(args, env);
    assert.equal(code, 78, `${args.join(' ')}: ${err}`);
    assert.match(err, expected);
    assert.equal(/\n\s+at /.test(err) || err.trim().includes('\n'), false, err);
    assert.equal(out, '');
  }
  const { code, err } = run(['--data-dir', data, '--debug']);
  assert.equal(code, 78);
  assert.match(err, /config\.json is not valid JSON: line 1, column 3.*\n\s+at /, '--debug shows the stack');
});

test('a port in use exits with 69: a supervisor may retry', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const program = startProgram(carrelProgram, ['--transport', 'http', '--port', String(port)]);
  const [code] = await once(program.process, 'exit');
  other.close();
  assert.equal(code, 69);
  assert.match(
    program.stderrText(),
    new RegExp(`^carrel: Port ${port} on 127\\.0\\.0\\.1 is already in use[^\\n]*\\n$`),
  );
});

test('in HTTP mode stderr says once where it listens; the server continues when its working directory is removed, and Ctrl-C exits with 0 (contract §1)', async (t) => {
  const gone = folder();
  const env = { DB_PATH: relative(gone, join(folder(), 'notes.db')) };
  const server = await startCarrel(t, ['research'], { folder: gone, env });
  assert.match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  const health = await exchange(`${server.origin}/health`, { method: 'GET' });
  assert.equal(health.messages[0]?.['status'], 'ok');
  rmSync(gone, { recursive: true });
  const rpc = createBareRpc(server.url);
  await rpc.result('save_note', { title: 'kept', content: 'a lighthouse' });
  assert.match(JSON.stringify(await rpc.result('list_notes', { query: 'lighthouse' })), /kept/);
  // A terminal and npm both forward the same Ctrl-C.
  server.process.kill('SIGINT');
  setTimeout(() => server.process.kill('SIGINT'), 20);
  assert.equal(await server.exited, 0);
  assert.equal(server.stderrText(), `carrel: listening on ${server.url}\n`);
  assert.match(readFileSync(join(server.dataDir, 'log', 'carrel.log'), 'utf8'), / info stopped/);
});

test('writes nothing into the current folder, and only owner-readable files (contract §1, T166)', () => {
  const { home, code } = run([]);
  assert.equal(code, 0);
  assert.deepEqual(readdirSync(home), ['.carrel']);
  const walk = (path: string): string[] =>
    readdirSync(path).flatMap((name) => {
      const inner = join(path, name);
      return statSync(inner).isDirectory() ? [inner, ...walk(inner)] : [inner];
    });
  for (const path of [join(home, '.carrel'), ...walk(join(home, '.carrel'))]) {
    assert.equal(statSync(path).mode & 0o077, 0, path);
  }
  assert.equal(existsSync(join(home, '.carrel', 'carrel.db')), true);
  assert.equal(existsSync(join(home, '.carrel', 'cache')), false, 'compiled code is never kept in the data folder');
});

test('--toolsets offers the tools of those toolsets; find alone still asks every source (contract §8); a stdio server writes nothing but JSON-RPC and exits with 0 when its client leaves', async () => {
  const client = startStdioClient(carrelProgram, ['serve', '--toolsets', 'find']);
  await client.handshake();
  const { result = {} } = await client.request(1, 'tools/list');
  assert.deepEqual(
    (result['tools'] as { name: string }[]).map(({ name }) => name),
    ['find', 'verify'],
  );
  const found = await client.request(2, 'tools/call', { name: 'find', arguments: { query: 'anything' } });
  const { sources } = Object(found.result?.['structuredContent']);
  const notes = sources.find(({ source }: { source: string }) => source === 'notes');
  assert.deepEqual(notes, { source: 'notes', status: 'searched', hits: 0 });
  assert.equal(await client.end(), 0);
  assert.equal(client.program.stderrText(), '');
});

test('on an outdated Node the binary says so in one line and exits with 78', () => {
  // The check reads process.versions.node; a preload changes it to simulate an old Node.
  const fake = join(
    folder({ 'old.cjs': "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });" }),
    'old.cjs',
  );
  const { status, stderr } = spawnSync(process.execPath, ['--require', fake, carrelProgram], { encoding: 'utf8' });
  assert.equal(status, 78);
  assert.match(stderr, /^carrel: needs Node 22\.16 or newer; this is Node 20\.20\.2\.[^\n]*\n$/);
});

test('config shows each value with its source and never a secret', () => {
  const env = { CARREL_AUTH_TOKEN: 'a-very-secret-token', CARREL_PORT: '9000' };
  const { out, err, code } = run(['config', '--host', '127.0.0.2', '--json'], env);
  assert.equal(code, 0);
  const { settings } = JSON.parse(out);
  assert.deepEqual(settings['http.port'], { value: 9000, source: 'CARREL_PORT' });
  assert.deepEqual(settings['http.host'], { value: '127.0.0.2', source: '--host' });
  assert.deepEqual(settings['http.path'], { value: '/mcp', source: 'default' });
  assert.deepEqual(settings['http.authToken'], { value: '[secret]', source: 'CARREL_AUTH_TOKEN' });
  assert.equal((out + err + run(['config'], env).out).includes('a-very-secret-token'), false);
});

test('doctor names the next command for problems', async () => {
  const blocked = folder({ data: '' });
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, out } = run(['doctor', '--json', '--port', String(port), '--data-dir', join(blocked, 'data')]);
  other.close();
  assert.equal(code, 78);
  const { ok, checks } = JSON.parse(out);
  assert.equal(ok, false);
  const failed = checks.filter((check: { ok: boolean }) => !check.ok);
  assert.deepEqual(failed.map(({ name }: { name: string }) => name).sort(), ['data folder', 'database', 'port']);
  for (const { remedy } of failed) assert.ok(remedy.length > 10);
});

test('the log records starts and crashes with their stacks, and never a token (G18)', async () => {
  const home = folder();
  const crash = "process.once('SIGUSR2', () => { throw new Error('out of order') })";
  const program = await startListening(carrelProgram, ['--data-dir', home], {
    CARREL_AUTH_TOKEN: 'canary-token-123456',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crash)}`,
  });
  await exchange(program.url, { headers: { authorization: 'Bearer wrong-canary-token-123456' }, body: '{}' });
  await exchange(`${program.url}?access_token=canary-token-123456`, { method: 'GET' });
  program.process.kill('SIGUSR2');
  assert.equal(await program.exited, 1);
  assert.match(program.stderrText(), /^carrel: unexpected error: out of order$/m);
  const log = readFileSync(join(home, 'log', 'carrel.log'), 'utf8');
  assert.match(log, / info started .*version=/);
  assert.match(
    log,
    / error crashed role=serve incident=\S+ origin=uncaughtException error="Error: out of order\\n +at /,
  );
  assert.equal((log + program.stderrText()).includes('canary-token-123456'), false);
});
