import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isRunning } from '../../src/base/is-running.ts';
import { encodeFrame, frameKinds } from '../../src/sharing/frames.ts';
import type { Announcement } from '../../src/sharing/owner-files.ts';
import { startFakeEngine } from '../fakes/kb-engine/start-fake-engine.ts';
import { serveHttp } from '../fakes/loopback-server.ts';
import { carrelProgram, cleanEnv, makeFolder } from '../support/child-program.ts';
import { withTasks } from '../support/modern-calls.ts';
import { pause, until } from '../support/pause.ts';
import { modernRequest } from '../support/raw-http.ts';
import { size } from '../support/sizes.ts';
import { type Message, type StdioClient, startStdioClient } from '../support/stdio-client.ts';

/** A toolset with a database and without a model. */
const args = ['serve', '--toolsets', 'research'];
const sharing = { CARREL_ALONE: 'false', RATE_LIMIT_NOTES: '100000', RATE_LIMIT_FETCH: '100000' };

interface Fixture {
  folder: string;
  dataDir: string;
  start(more?: { args?: readonly string[]; env?: Record<string, string>; program?: string }): StdioClient;
  owners(): Announcement[];
  /** The serving process; fails unless there is exactly one. */
  owner(): Announcement;
  log(): string;
}

function createFixture(t: TestContext, name = 'data'): Fixture {
  const folder = makeFolder(t);
  const dataDir = join(folder, name);
  const started: StdioClient[] = [];
  const run = join(dataDir, 'run');
  const owners = (): Announcement[] =>
    existsSync(run)
      ? readdirSync(run)
          .filter((file) => file.endsWith('.json'))
          .map((file) => JSON.parse(readFileSync(join(run, file), 'utf8')))
      : [];
  t.after(async () => {
    const left = owners();
    for (const { program } of started) program.process.kill('SIGKILL');
    await Promise.all(started.map(({ program }) => program.exited));
    for (const { pid } of left) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  return {
    folder,
    dataDir,
    start({ args: own = args, env = {}, program = carrelProgram } = {}) {
      const client = startStdioClient(program, own, { ...sharing, ...env }, { folder, dataDir });
      started.push(client);
      return client;
    },
    owners,
    owner() {
      const [first, ...others] = owners();
      assert(first !== undefined && others.length === 0, `${others.length + 1} owners`);
      return first;
    },
    log: () => readFileSync(join(dataDir, 'log', 'carrel.log'), 'utf8'),
  };
}

const saveNote = (title: string) => ({ name: 'save_note', arguments: { title, content: 'x' } });
const call = (client: StdioClient, id: string | number, name: string, given: object): Promise<Message> =>
  client.request(id, 'tools/call', { name, arguments: given });

async function titles(client: StdioClient): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += 100) {
    const { result } = await call(client, `list ${offset} ${Math.random()}`, 'list_notes', { limit: 100, offset });
    const { notes } = Object(result?.['structuredContent']);
    found.push(...notes.map(({ title }: { title: string }) => title));
    if (notes.length < 100) return found;
  }
}

/** False for a process that has ended but has not been reaped. */
function isServing(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

async function gone(pid: number): Promise<void> {
  await until(() => !isServing(pid));
}

test('clients share one process, each with its own session, and nothing is left after the last (contract §1, §9)', async (t) => {
  const fixture = createFixture(t);
  const env = { SERPER_API_KEY: 'canary-key-123456' };
  const [first, second, third] = [fixture.start({ env }), fixture.start({ env }), fixture.start({ env })];
  const answers = await Promise.all([first.handshake('2025-11-25'), second.handshake('2025-03-26'), third.handshake()]);
  assert.deepEqual(
    answers.map(({ result }) => result?.['protocolVersion']),
    ['2025-11-25', '2025-03-26', '2025-11-25'],
  );
  const { pid } = fixture.owner();
  assert(isRunning(pid) && pid !== first.program.process.pid && pid !== second.program.process.pid);
  await t.test('except with --alone or CARREL_ALONE', async () => {
    const apart = [
      fixture.start({ env, args: [...args, '--alone'] }),
      fixture.start({ env: { ...env, CARREL_ALONE: 'yes' } }),
    ];
    await Promise.all(apart.map((client) => client.handshake()));
    assert.equal(fixture.owner().pid, pid);
    assert.deepEqual(await Promise.all(apart.map((client) => client.end())), [0, 0]);
  });
  const doctor = spawnSync(process.execPath, [carrelProgram, 'doctor', '--json', '--port', '0'], {
    env: cleanEnv(fixture.dataDir),
    encoding: 'utf8',
  });
  const { checks } = JSON.parse(doctor.stdout);
  const shown = checks.find(({ name }: { name: string }) => name === 'sharing');
  assert.match(shown?.found, new RegExp(`process ${pid} \\(serve, since [^)]+\\): 3 clients`));

  const [one, two] = await Promise.all([
    call(first, 1, 'save_note', saveNote('of the first').arguments),
    second.request(1, 'ping'),
  ]);
  assert.equal(Object(one.result?.['structuredContent']).note.title, 'of the first');
  assert.deepEqual(two.result, {});
  assert.deepEqual(await titles(second), ['of the first']);

  await t.test('the folder contains no secrets, and only clients with the process secret are served', async () => {
    const { socket, secret } = fixture.owner();
    const run = join(fixture.dataDir, 'run');
    for (const file of readdirSync(run).filter((name) => name.endsWith('.json'))) {
      assert.equal(readFileSync(join(run, file), 'utf8').includes('canary'), false);
    }
    assert.equal(readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('canary'), false);
    const answers = async (bytes: Buffer): Promise<string> => {
      const stranger = connect(socket, () => stranger.write(bytes));
      const parts: Buffer[] = [];
      stranger.on('data', (part) => parts.push(part));
      stranger.on('error', () => {});
      await new Promise<void>((resolve) => stranger.once('close', () => resolve()));
      return Buffer.concat(parts).toString('latin1');
    };
    const hello = (guess: string) => JSON.stringify({ secret: guess, wants: 'service', client: 'x', folder: '/' });
    assert.match(await answers(encodeFrame(frameKinds.hello, 0, hello('x'.repeat(secret.length)))), /unknown$/);
    assert.match(await answers(encodeFrame(frameKinds.hello, 0, '{"secret":7}')), /unknown$/);
    assert.match(
      await answers(encodeFrame(frameKinds.line, 1, '{"jsonrpc":"2.0","id":1,"method":"ping"}')),
      /unknown$/,
    );
    assert.equal(await answers(Buffer.alloc(100_000, 0xff)), '', 'what is no frame is cut off');
    const status = Buffer.from(hello(secret).replace('service', 'status'));
    assert.match(await answers(encodeFrame(frameKinds.hello, 0, status)), /\{"clients":3\}$/);
    assert.deepEqual((await first.request('still', 'ping')).result, {});
  });

  await t.test('a changed configuration file gets a new process; clients of the old one stay', async () => {
    writeFileSync(join(fixture.dataDir, 'config.json'), JSON.stringify({ tools: { readOnly: true } }));
    const after = fixture.start({ env });
    await after.handshake();
    assert.notEqual(fixture.owner().pid, pid);
    const tools = async (client: StdioClient): Promise<string[]> =>
      Object((await client.request('tools', 'tools/list')).result).tools.map(({ name }: { name: string }) => name);
    assert.equal((await tools(first)).includes('save_note'), true);
    assert.equal((await tools(after)).includes('save_note'), false);
    await after.end();
  });

  assert.equal(await first.end(), 0);
  // The process outlives whichever client started it.
  third.program.process.kill('SIGKILL');
  await third.program.exited;
  assert.deepEqual((await second.request(2, 'ping')).result, {});
  assert.equal(await second.end(), 0);
  assert.equal(isServing(pid), false, 'the process ends before its last client');
  assert.deepEqual(readdirSync(join(fixture.dataDir, 'run')), []);
  const strangers =
    /^carrel: (?:rejected a connection without this process's secret|disconnected a relay that sent) .*\n/gm;
  for (const { program } of [first, second]) assert.equal(program.stderrText().replaceAll(strangers, ''), '');
});

test('a killed owner is replaced: sessions continue, reads are repeated, and no write is lost or doubled', async (t) => {
  const fixture = createFixture(t);
  let asked = 0;
  const held = Promise.withResolvers<void>();
  const site = await serveHttp(t, (_request, response) => {
    asked += 1;
    // The first request is never answered: its owner is killed.
    if (asked === 1) held.resolve();
    else response.end('a page that was asked for twice');
  });
  const env = { FETCH_ALLOW_PRIVATE: new URL(site.origin).host };
  const clients = [fixture.start({ env }), fixture.start({ env })];
  await Promise.all(clients.map((client) => client.handshake()));
  const [writer, reader] = clients as [StdioClient, StdioClient];
  const page = call(reader, 'page', 'fetch_page', { url: `${site.origin}/page` });
  await held.promise;

  const acknowledged: string[] = [];
  for (let round = 1; round <= size({ quick: 1, full: 2 }); round += 1) {
    await writer.request(`round ${round}`, 'ping');
    const { pid } = fixture.owner();
    const stopped = Promise.withResolvers<void>();
    let count = 0;
    const answered = Array.from({ length: 60 }, async (_, index) => {
      const title = `${round}.${index}`;
      const { result, error } = await writer.request(title, 'tools/call', saveNote(title));
      if (result) acknowledged.push(title);
      else assert.deepEqual(error?.data, { code: 'interrupted', retryable: true });
      count += 1;
      if (count !== 20) return;
      process.kill(pid, 'SIGSTOP');
      stopped.resolve();
    });
    await stopped.promise;
    const late = writer.request(`late ${round}`, 'tools/call', saveNote(`late ${round}`));
    process.kill(pid, 'SIGKILL');
    await Promise.all(answered);
    const { error } = await late;
    assert.equal(error?.data?.['code'], 'interrupted');
    assert.match(String(error?.message), /may or may not have been performed/);
    // Repeated exactly once.
    assert.match(JSON.stringify((await page).result), /asked for twice/);
  }
  const kept = await titles(reader);
  assert.deepEqual([...new Set(kept)].length, kept.length, 'something was written twice');
  assert.deepEqual(
    acknowledged.filter((title) => !kept.includes(title)),
    [],
  );
  assert.deepEqual(await Promise.all(clients.map((client) => client.end())), [0, 0]);
});

test('an owner killed while starting is replaced unnoticed; one asked to end finishes its work and hands over the rest unnoticed', async (t) => {
  const fixture = createFixture(t);
  const client = fixture.start();
  const answered = client.handshake();
  const { pid } = client.program.process;
  const children = (): string => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  while (children() === '') await pause(5);
  process.kill(Number(children()), 'SIGKILL');
  assert.equal((await answered).result?.['protocolVersion'], '2025-11-25');

  const { pid: owner } = fixture.owner();
  const { result } = await call(client, 'watched', 'save_note', saveNote('watched').arguments);
  const { id } = Object(result?.['structuredContent']).note;
  const uri = `carrel://notes/${id}`;
  assert.deepEqual((await client.request('subscribe', 'resources/subscribe', { uri })).result, {});
  const writes = Array.from({ length: 20 }, (_, index) => `note ${index}`);
  const write = (title: string): Promise<Message> => client.request(title, 'tools/call', saveNote(title));
  const early = writes.slice(0, 10).map(write);
  await early[4];
  process.kill(owner, 'SIGTERM');
  const answers = await Promise.all([...early, ...writes.slice(10).map(write)]);
  for (const { result, error } of answers) assert(result, JSON.stringify(error));
  assert.deepEqual((await titles(client)).sort(), [...writes, 'watched'].sort());
  await call(client, 'update', 'update_note', { id, content: 'y' });
  await client.next(({ method, params }) => method === 'notifications/resources/updated' && Object(params).uri === uri);
  await gone(owner);
  assert.notEqual(fixture.owner().pid, owner);
  assert.equal(await client.end(), 0);
  assert.equal(client.program.stderrText(), '');
});

test('different programs, settings or rights are not shared; both versions write, and an upgrade loses nothing', async (t) => {
  const fixture = createFixture(t);
  const newer = join(makeFolder(t), 'carrel');
  const root = dirname(dirname(carrelProgram));
  for (const part of ['bin', 'dist']) cpSync(join(root, part), join(newer, part), { recursive: true });
  for (const part of ['node_modules', 'models']) symlinkSync(join(root, part), join(newer, part));
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(newer, 'package.json'), JSON.stringify({ ...manifest, version: '99.0.0' }));

  const old = fixture.start();
  await old.handshake();
  const { pid } = fixture.owner();
  const saved = async (client: StdioClient, prefix: string): Promise<string[]> => {
    const names = Array.from({ length: 12 }, (_, index) => `${prefix} ${index}`);
    for (const name of names) assert((await client.request(name, 'tools/call', saveNote(name))).result);
    return names;
  };
  const before = saved(old, 'old');
  const upgraded = fixture.start({ program: join(newer, 'bin/carrel.js') });
  const { result } = await upgraded.handshake();
  assert.equal(Object(result?.['serverInfo']).version, '99.0.0');
  assert.equal(fixture.owners().length, 2);
  const all = (await Promise.all([before, saved(upgraded, 'new')])).flat();
  assert.deepEqual((await titles(old)).sort(), all.sort());
  await old.end();
  await gone(pid);
  assert.equal(fixture.owner().version, '99.0.0');
  await upgraded.end();
});

test('if the folder is not private or is a link, the client is served alone, and the log says why', async (t) => {
  const fixture = createFixture(t);
  const run = join(fixture.dataDir, 'run');
  mkdirSync(run, { recursive: true });
  chmodSync(run, 0o755);
  const served = async (): Promise<void> => {
    const client = fixture.start();
    await client.handshake();
    assert.deepEqual(readdirSync(run), []);
    assert.equal(await client.end(), 0);
    assert.equal(client.program.stderrText(), '');
  };
  await served();
  rmSync(run, { recursive: true });
  symlinkSync(makeFolder(t), run);
  await served();
  assert.equal(fixture.log().match(/not sharing: \S+run must be a folder owned by you/g)?.length, 2);
});

test('leftovers of killed processes, and an overlong socket path, block nobody', async (t) => {
  const long = 'd'.repeat(100);
  const runtime = makeFolder(t);
  const fixture = createFixture(t, long);
  const env = { XDG_RUNTIME_DIR: runtime };
  const client = fixture.start({ env });
  await client.handshake();
  const run = join(runtime, 'carrel');
  const [file = ''] = readdirSync(run).filter((name) => name.endsWith('.json'));
  const announced: Announcement = JSON.parse(readFileSync(join(run, file), 'utf8'));
  client.program.process.kill('SIGKILL');
  process.kill(announced.pid, 'SIGKILL');
  await Promise.all([gone(announced.pid), client.program.exited]);
  // Beside what the killed process left: invalid JSON instead of an announcement.
  writeFileSync(join(run, file.replace(String(announced.pid), '999999999')), '{"socket":');
  const next = fixture.start({ env });
  await next.handshake();
  assert.equal(await next.end(), 0);
  assert.deepEqual(readdirSync(run), []);
});

test('a task of one client is unknown to another that shares its process, which ends when both are killed', async (t) => {
  const fixture = createFixture(t);
  const engine = await startFakeEngine(t, { holdsJobs: true });
  const more = { args: ['kb', '--transport', 'stdio'], env: { KB_ENGINE_URL: engine.origin } };
  const [first, second] = [fixture.start(more), fixture.start(more)];
  const ask = async (client: StdioClient, id: number, method: string, params: Record<string, unknown>) => {
    const meta = { 'io.modelcontextprotocol/clientCapabilities': withTasks };
    client.send(modernRequest(method, { ...params, _meta: meta }, id).message);
    return client.next((message) => message['id'] === id);
  };
  const note = { name: 'kb_addnote', arguments: { text: 'Of the first client.' } };
  const { result } = await ask(first, 1, 'tools/call', note);
  const taskId = result?.['taskId'];
  assert.equal(typeof taskId, 'string');
  assert.ok((await ask(first, 2, 'tasks/get', { taskId })).result);
  for (const [id, method] of [
    [1, 'tasks/get'],
    [2, 'tasks/cancel'],
  ] as const) {
    assert.ok((await ask(second, id, method, { taskId })).error, method);
  }
  const { pid } = fixture.owner();
  for (const { program } of [first, second]) program.process.kill('SIGKILL');
  await gone(pid);
});
