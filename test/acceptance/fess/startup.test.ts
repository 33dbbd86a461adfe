import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadRoleConfig, prepareRole } from '../../../src/app/program.ts';
import { roles } from '../../../src/app/roles.ts';
import { startFakeFess } from '../../fakes/fess/start-fake-fess.ts';
import { carrelProgram, startListening, startProgram } from '../../support/child-program.ts';
import { openSession, post } from '../../support/raw-http.ts';
import { verifies } from '../../support/verifies.ts';
import { connect, dataOf, finance, httpPeer, initializeMessage, makeHome, openWorld } from './bridge.ts';

const config = { fessBaseUrl: 'http://127.0.0.1:9', domain: finance };

/** Starts the bridge and waits until it exits. */
async function fails(home: string, args: readonly string[] = []): Promise<{ code: number | null; said: string }> {
  const program = startProgram(carrelProgram, ['fess', ...args], { HOME: home });
  const code = await program.exited;
  return { code, said: program.stderrText() };
}

/** Reads the configuration as a start does. */
async function read(home: string, flags: Record<string, string> = {}) {
  const role = roles['fess'] ?? assert.fail();
  const env = { HOME: home };
  return loadRoleConfig(await prepareRole(role, flags, env), flags, env);
}

verifies(['001 AT-CFG-001', '000 §4.4 exit'], 'fails to start without a file, and names the path', async (t) => {
  const home = makeHome(t);
  const { code, said } = await fails(home);
  assert.equal(code, 78);
  assert.ok(said.includes('config.json is missing'), said);
  assert.ok(said.includes(join(home, '.mcp-feiss', 'config.json')), said);
  assert.equal(said.trim().split('\n').length, 1);
});

verifies('001 AT-CFG-002', 'reports invalid JSON with file, line and column', async (t) => {
  const home = makeHome(t, '{ bad json }');
  const { code, said } = await fails(home);
  assert.equal(code, 78);
  assert.ok(said.includes(join(home, '.mcp-feiss', 'config.json')), said);
  assert.match(said, /not valid JSON: line 1, column 3, found "b"/);
});

verifies('000 §4.1 invalid', 'reports an invalid value with its path, the error and the range', async (t) => {
  const faults: [object, RegExp][] = [
    [{ domain: finance }, /fessBaseUrl is missing/],
    [{ ...config, fessBaseUrl: 'ftp://fess' }, /fessBaseUrl must be an http or https URL/],
    [{ fessBaseUrl: 'http://fess' }, /domain is missing/],
    [{ ...config, domain: { ...finance, labelFilter: 'a" OR "b' } }, /domain\.labelFilter must be 1 to 100 letters/],
    [{ ...config, limits: { maxPageSize: 500 } }, /limits\.maxPageSize must be an integer from 1 to 100, not 500/],
    [{ ...config, timeouts: { fessRequestTimeoutMs: '5s' } }, /timeouts\.fessRequestTimeoutMs must be an integer/],
    [{ ...config, logging: { level: 'loud' } }, /logging\.level must be one of error, warn, info, debug, not "loud"/],
    [
      { ...config, contentFetch: { allowedSchemes: ['ftp'] } },
      /contentFetch\.allowedSchemes\[0\] must be http or https/,
    ],
    [{ ...config, domain: { ...finance, id: 'x'.repeat(60) } }, /domain\.id must be at most 45 characters/],
    [
      { ...config, domains: [{ ...finance, id: 'FINANCE' }] },
      /domains\[0\]\.id and domain\.id result in the same tool name/,
    ],
    [{ ...config, security: { httpAuthToken: 'två ord' } }, /security\.httpAuthToken must be printable ASCII/],
    [{ ...config, contentFetch: { allowedHostAllowlist: ['http://a/'] } }, /allowedHostAllowlist.*is not a host/],
  ];
  for (const [content, message] of faults) {
    await assert.rejects(read(makeHome(t, content)), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'invalid_config');
      assert.match(error.message, message);
      assert.ok(error.message.includes('config.json'), error.message);
      assert.ok(!error.message.includes('två ord'), 'a secret is not shown');
      return true;
    });
  }
  // All of them exit in the same way, so one start is enough.
  const { code, said } = await fails(makeHome(t, { ...config, limits: { maxPageSize: 500 } }));
  assert.equal(code, 78);
  assert.match(said, /^carrel: [^\n]*config\.json[^\n]*limits\.maxPageSize must be an integer[^\n]*\n$/);
});

verifies(
  ['001 AT-CFG-003', '001 AT-CFG-006', '000 §4.1 file', '000 §4.1 log folder', '000 §4.3 stable log'],
  'creates log/ next to the configuration file; without --transport uses stdio and opens no port',
  async (t) => {
    for (const folder of ['.mcp-feiss', 'mcp-feiss', '.mcp-fess']) {
      const home = makeHome(t, { ...config, unknownThing: 1, limits: { maxPagesize: 3 } }, folder);
      const peer = await connect(t, 'stdio', home);
      assert.equal((await peer.request('ping')).result !== undefined, true);
      assert.ok(!peer.program.stderrText().includes('listening'));
      assert.deepEqual(listeningSockets(peer.program.process.pid), []);
      const log = readFileSync(join(home, folder, 'log', 'server.log'), 'utf8');
      assert.match(log, /warn .*unknownThing is not a setting/);
      assert.match(log, /warn .*limits\.maxPagesize is not a setting/);
      assert.ok(!existsSync(join(home, '.carrel')), 'nothing else is written');
    }
  },
);

test('prefers the folder with the dot (contract §4), and removes old logs, but no other files (000 §4.1 logging)', async (t) => {
  const home = makeHome(t, { ...config, logging: { retainDays: 2 } });
  mkdirSync(join(home, '.mcp-fess'));
  writeFileSync(join(home, '.mcp-fess', 'config.json'), '{ broken');
  const folder = join(home, '.mcp-feiss', 'log');
  mkdirSync(folder);
  const names = ['server.log.3', '2020-01-01_00-00-00_server.log', 'notes.txt', 'server.log.1'];
  for (const name of names) writeFileSync(join(folder, name), 'x');
  const old = new Date(Date.now() - 3 * 86_400_000);
  for (const name of names.slice(0, 3)) utimesSync(join(folder, name), old, old);
  const peer = await connect(t, 'stdio', home);
  assert.equal(peer.initialized.error, undefined);
  assert.deepEqual(readdirSync(folder).sort(), ['notes.txt', 'server.log', 'server.log.1']);
});

verifies(
  ['001 AT-CFG-004', '000 §4.4 bind'],
  'a bind address beyond loopback needs security.allowNonLocalhostBind',
  async (t) => {
    const open = makeHome(t, { ...config, httpTransport: { bindAddress: '0.0.0.0' } });
    const { code, said } = await fails(open, ['--transport', 'http']);
    assert.equal(code, 78);
    assert.match(said, /not loopback.*disabled.*security\.allowNonLocalhostBind to true/);
    await assert.rejects(read(open), /not loopback.*disabled.*security\.allowNonLocalhostBind to true/);
    await assert.rejects(read(makeHome(t, config), { transport: 'http', host: '0.0.0.0' }), /allowNonLocalhostBind/);
  },
);

verifies(
  '001 AT-SEC-003',
  'with the setting the bridge listens on every address, and warns if there is no token',
  async (t) => {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
    const allowing = (name: string) =>
      makeHome(t, { ...config, httpTransport: { bindAddress: '0.0.0.0' }, security: { [name]: true } });
    const program = await startListening(carrelProgram, ['fess'], { HOME: allowing('allowNonLocalhostBind') });
    t.after(async () => void (await program.stop()));
    assert.match(program.stderrText(), /WARNING: 0\.0\.0\.0 is open to others without a token/);
    const port = new URL(program.url).port;
    for (const host of ['127.0.0.1', ...(address === undefined ? [] : [address])]) {
      assert.equal((await post(`http://${host}:${port}/mcp`, initializeMessage)).status, 200, host);
    }
    // The other spelling is accepted too.
    await read(allowing('allowNonlocalhostBind'));
  },
);

verifies(
  ['000 §4.4 unreachable', '001 AT-CFG-005', '000 §4.2 debug lines'],
  'warns about an unresponsive Fess in a debug log with the date in its name and the elapsed time on each line, and uses Fess once it answers',
  async (t) => {
    const first = await startFakeFess({ version: '15.4' });
    const { port } = new URL(first.url);
    await first.close();
    const home = makeHome(t, { ...config, fessBaseUrl: first.url });
    const peer = await connect(t, 'stdio', home, ['--debug']);
    // One warning, and one error with a stack of many lines.
    await peer.program.waitForOutput(/Fess cannot be reached/);
    assert.equal((await peer.call('health')).error?.data?.['code'], 'fess_unreachable');
    const folder = join(home, '.mcp-feiss', 'log');
    const [name = '', ...others] = readdirSync(folder);
    assert.deepEqual(others, []);
    assert.match(name, /^\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_server\.log$/);
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    assert.ok(lines.length >= 2, lines.join('\n'));
    for (const line of lines) assert.match(line, /^\[\d\d:[0-5]\d:[0-5]\d\] (?:debug|info|warn|error) /);
    const fess = await startFakeFess({ version: '15.8', port: Number(port) });
    t.after(() => fess.close());
    assert.equal(dataOf(await peer.call('health'))['status'], 'green');
  },
);

verifies(
  ['001 AT-ERR-002', '000 §10 fess'],
  'reports an unreachable Fess as fess_unreachable, without a status',
  async (t) => {
    const { fess, peer } = await openWorld(t);
    await fess.close();
    const { error } = await peer.call('search', { query: 'test' });
    assert.equal(error?.code, -32_000);
    assert.deepEqual(
      [error?.data?.['code'], error?.data?.['httpStatus'], error?.data?.['endpoint']],
      ['fess_unreachable', null, '/api/v1/documents'],
    );
    assert.ok(!JSON.stringify(error).includes(new URL(fess.url).host));
  },
);

verifies('000 §4.4 unreachable', 'warns separately about a hung server and a server other than Fess', async (t) => {
  const hung = await startFakeFess({ version: '15.4' });
  t.after(() => hung.close());
  hung.setFault({ kind: 'hang' });
  const timeouts = { fessRequestTimeoutMs: 1000 };
  const silent = await connect(t, 'stdio', makeHome(t, { ...config, fessBaseUrl: hung.url, timeouts }));
  await silent.program.waitForOutput(/Fess did not answer in time/);
  const { error } = await silent.call('health');
  assert.match(error?.message ?? '', /did not answer within 1000 ms.*check the server/);
  const foreign = await startFakeFess({ version: '15.4', jsonDisabled: true });
  t.after(() => foreign.close());
  const other = await connect(t, 'stdio', makeHome(t, { ...config, fessBaseUrl: foreign.url }));
  await other.program.waitForOutput(/has no Fess search API/);
});

verifies(
  ['000 §4.1 defaults', '000 §6.2 loopback'],
  'uses defaults for everything but the two required fields',
  async (t) => {
    const fess = await startFakeFess({ version: '15.4' });
    t.after(() => fess.close());
    const home = makeHome(t, { fessBaseUrl: fess.url, domain: finance });
    const program = startProgram(carrelProgram, ['fess', '--transport', 'http'], { HOME: home });
    t.after(async () => void (await program.stop()));
    const [, url = ''] = await program.waitForOutput(/^carrel: listening on (\S+)$/m);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    assert.notEqual(new URL(url).port, '8737');
    const peer = await httpPeer(t, program, url);
    const { tools } = (await peer.request('tools/list')).result as { tools: { name: string; inputSchema: object }[] };
    const search = tools.find(({ name }) => name === 'fess_finance_search');
    assert.ok(search);
    const { pageSize } = (search.inputSchema as { properties: Record<string, object> }).properties;
    assert.deepEqual(
      { ...pageSize, description: '' },
      { type: 'integer', minimum: 1, maximum: 100, default: 20, description: '' },
    );
    await peer.call('search', { query: 'test' });
    assert.equal(fess.requests.find(({ path }) => path === '/api/v1/documents')?.query.get('num'), '20');
  },
);

test('carrel serve has the tools of Fess if it is configured, and refuses to start on a broken file', async (t) => {
  const fess = await startFakeFess({ version: '15.4' });
  t.after(() => fess.close());
  const home = makeHome(t, { fessBaseUrl: fess.url, domain: finance });
  const names = async (env: Record<string, string>): Promise<string[]> => {
    const program = await startListening(carrelProgram, ['serve'], env);
    const session = await openSession(program.url);
    const { messages } = await session.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    await program.stop();
    const tools = messages[0]?.result?.['tools'] as { name: string }[] | undefined;
    return tools?.map(({ name }) => name) ?? [];
  };
  assert.ok((await names({ HOME: home })).includes('fess_finance_search'));
  assert.ok(
    (await names({ CARREL_FESS_CONFIG: join(home, '.mcp-feiss', 'config.json') })).includes('fess_finance_read'),
  );
  const broken = startProgram(carrelProgram, ['serve'], { HOME: makeHome(t, '{') });
  assert.equal(await broken.exited, 78);
});

/** The process's sockets in the state LISTEN. */
function listeningSockets(pid: number | undefined): string[] {
  const inodes = new Set(socketInodes(pid));
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((columns) => columns[3] === '0A' && inodes.has(columns[9] ?? ''))
      .map((columns) => columns[1] ?? ''),
  );
}

function socketInodes(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, fd)))?.slice(1) ?? [];
    } catch {
      return [];
    }
  });
}
