import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minimalEnvironment, testLaunch, testRemote } from './handshake.ts';
import { stableNodePath } from './launch-command.ts';
import { isOurs, mergeEntry } from './server-entry.ts';

test('reports a command that fails to start or is not a server, with its last output', async () => {
  await assert.rejects(testLaunch({ command: '/no/such/node', args: [] }), {
    code: 'unavailable',
    message: /\/no\/such\/node/,
  });
  const run = (script: string) => testLaunch({ command: process.execPath, args: ['-e', script] });
  await assert.rejects(run('console.error("Too old."); process.exit(78)'), {
    code: 'unavailable',
    message: /Too old\./,
  });
  await assert.rejects(run('console.log("hello")'), { code: 'unavailable', message: /does not start/ });
  const other = `require('readline').createInterface({input: process.stdin}).on('line', (line) => {
    const { id } = JSON.parse(line); if (id) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} })); })`;
  await assert.rejects(run(other), { code: 'unavailable', message: /does not speak MCP/ });
});

test('returns nothing if no server listens', async () => {
  assert.equal(await testRemote({ url: 'http://127.0.0.1:9/mcp', token: undefined }), undefined);
});

test('tests the server with the minimal environment of a client', () => {
  const env = { HOME: '/home/u', PATH: '/home/u/.nvm/bin:/usr/bin', CARREL_HOME: '/x', SECRET: 'y', LANG: 'C' };
  assert.deepEqual(minimalEnvironment('linux', env), {
    HOME: '/home/u',
    LANG: 'C',
    PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
  });
  const windows = minimalEnvironment('win32', { SystemRoot: 'D:\\Windows', APPDATA: 'a', HOME: 'b' });
  assert.deepEqual(windows, { SystemRoot: 'D:\\Windows', APPDATA: 'a', PATH: 'D:\\Windows\\System32' });
});

test('names Homebrew’s Node by its stable path if that is the same binary', () => {
  const versioned = '/opt/homebrew/Cellar/node@24/24.21.0/bin/node';
  const lasting = '/opt/homebrew/opt/node@24/bin/node';
  assert.equal(
    stableNodePath(versioned, (one) => one === lasting),
    lasting,
  );
  assert.equal(
    stableNodePath(versioned, () => false),
    versioned,
  );
  assert.equal(
    stableNodePath('/usr/bin/node', () => true),
    '/usr/bin/node',
  );
});

test('distinguishes our entries from other servers of the same name', () => {
  for (const entry of [
    { command: '/usr/bin/node', args: ['/opt/carrel/bin/carrel.js', 'serve'] },
    { command: 'C:\\node.exe', args: ['C:\\carrel\\bin\\carrel.js'] },
    { command: 'npx', args: ['-y', 'carrel'] },
    { command: 'npx', args: ['-y', 'carrel@0.1.0'] },
    { command: 'carrel' },
    { url: 'http://127.0.0.1:8737/mcp' },
    { serverUrl: 'http://127.0.0.1:8737/mcp' },
    { transport: { type: 'stdio', command: 'carrel' } },
  ]) {
    assert.ok(isOurs(entry), JSON.stringify(entry));
  }
  for (const entry of [{ command: 'docker', args: ['run', 'library/carrel-desk'] }, { command: 'carrell' }, {}]) {
    assert.equal(isOurs(entry), false, JSON.stringify(entry));
  }
});

test("keeps the user's own keys, but drops command-only keys from an entry with a URL", () => {
  const previous = { command: 'old', args: [], env: { A: '1' }, cwd: '/x', disabled: true };
  assert.deepEqual(mergeEntry(previous, { command: 'new', args: ['a'] }), {
    command: 'new',
    args: ['a'],
    env: { A: '1' },
    cwd: '/x',
    disabled: true,
  });
  assert.deepEqual(mergeEntry(previous, { url: 'u' }), { url: 'u', disabled: true });
});
