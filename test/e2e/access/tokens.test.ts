import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { carrelProgram, type ListeningProgram, makeFolder, startListening } from '../../support/child-program.ts';
import { until } from '../../support/pause.ts';
import { exchange, jsonHeaders, openSession, openStream, post } from '../../support/raw-http.ts';
import { initializeParams } from '../../support/stdio-client.ts';
import { runPiped } from '../../support/terminal.ts';

const env = { EMBEDDING_PROVIDER: 'none' };
const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams('2025-11-25') };

describe('named tokens on the product (contract §8, §9)', () => {
  let dataDir: string;
  let program: ListeningProgram;
  const given: string[] = [];
  let full: Record<string, string> = {};
  let some: Record<string, string> = {};
  let said = '';
  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'carrel-test-'));
    program = await startListening(carrelProgram, ['serve', '--data-dir', dataDir, '--debug'], env);
  });
  after(async () => {
    assert.equal(await program.stop(), 0);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  });

  const carrel = (...args: string[]) => runPiped(dataDir, ['token', ...args], { env });
  const add = (...args: string[]): Record<string, string> => {
    const { status, stdout, stderr } = carrel('add', ...args);
    assert.equal(status, 0, stderr);
    said = stderr;
    const token = stdout.trim();
    assert.match(token, /^carrel_[\w-]{43}$/);
    given.push(token);
    return { authorization: `Bearer ${token}` };
  };
  const statusWith = async (headers: Record<string, string>): Promise<number> =>
    (await post(program.url, initialize, headers)).status;
  const list = async (headers: Record<string, string>, method: string, key: string, name = 'name') => {
    const session = await openSession(program.url, '2025-11-25', { headers });
    const { messages } = await session.send({ jsonrpc: '2.0', id: 2, method });
    return ((messages[0]?.result?.[key] ?? []) as Record<string, string>[]).map((each) => String(each[name]));
  };

  it('the first token closes an open loopback server and its console', async () => {
    assert.equal(await statusWith({}), 200);
    full = add('full');
    assert.match(said, /every HTTP client needs a token/);
    await until(async () => (await statusWith({})) === 401);
    assert.equal((await exchange(program.url.replace('/mcp', '/'), { method: 'GET' })).status, 401);
    assert.equal(await statusWith(full), 200);
    assert.equal(await statusWith({ authorization: `Bearer carrel_${'A'.repeat(43)}` }), 401);
  });

  it('tools, prompts, resources and instructions of other toolsets do not exist, and reading changes nothing', async () => {
    some = add('some', '--toolsets', 'kb,find', '--read-only');
    assert.doesNotMatch(said, /every HTTP client/);
    const all = await list(full, 'tools/list', 'tools');
    const tools = await list(some, 'tools/list', 'tools');
    assert.deepEqual(
      tools.filter((name) => !/^(kb_|find$|verify$)/.test(name)),
      [],
    );
    assert.ok(all.includes('store_context') && tools.includes('kb_search') && !tools.includes('kb_delete'));
    assert.deepEqual(await list(some, 'resources/templates/list', 'resourceTemplates', 'uriTemplate'), [
      'carrel://kb/doc/{id}',
      'carrel://kb/source/{id}',
    ]);
    assert.ok((await list(full, 'prompts/list', 'prompts')).length > 0);
    assert.deepEqual(await list(some, 'prompts/list', 'prompts'), []);
    const opened = await post(program.url, initialize, some);
    assert.doesNotMatch(String(opened.messages[0]?.result?.['instructions']), /memory|web/);

    const session = await openSession(program.url, '2025-11-25', { headers: some });
    const foreign = await session.call(3, 'store_context', { thread_id: 'a', source: 'user', text: 'b' });
    const absent = await session.call(4, 'store_contexts', {});
    assert.deepEqual(
      [foreign, absent].map(({ messages }) => messages[0]?.error?.code),
      [-32_602, -32_602],
    );
    const refused = await session.call(5, 'kb_addnote', { note: 'x' });
    assert.match(JSON.stringify(refused.messages), /kb_addnote is disabled/);
  });

  it('revoking ends the token at once, with its sessions, streams and sign-ins', async () => {
    const headers = add('short');
    const session = await openSession(program.url, '2025-11-25', { headers });
    const stream = await openStream(program.url, session.headers);
    assert.equal(stream.status, 200);
    const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const page = program.url.replace('/mcp', '/sign-in');
    const body = `token=${headers['authorization']?.slice(7)}`;
    const signedIn = await exchange(page, { headers: form, body });
    const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
    const jobs = new URL(`${signedIn.headers['location']}jobs`, page).href;
    const look = async () => (await exchange(jobs, { method: 'GET', headers: { cookie } })).status;
    assert.equal(await look(), 200);

    assert.equal(carrel('revoke', 'short').status, 0);
    assert.equal((await session.send({ jsonrpc: '2.0', id: 9, method: 'tools/list' })).status, 401);
    assert.equal(await statusWith(headers), 401);
    assert.equal(await look(), 401);
    await stream.ended;
    assert.equal(carrel('revoke', 'short').status, 2);
    const renewed = add('short');
    assert.equal((await post(program.url, initialize, { ...renewed, 'mcp-session-id': session.id })).status, 404);
  });

  it('rejects an expired token and ends its streams', async () => {
    const openFor = async (lifeMs: number) => {
      const headers = add('brief', '--expires', new Date(Date.now() + lifeMs).toISOString());
      const session = await openSession(program.url, '2025-11-25', { headers });
      const stream = await openStream(program.url, session.headers);
      assert.equal(stream.status, 200);
      return { headers, stream };
    };
    // The start may take longer than that on a busy machine.
    const openLonger = (lifeMs: number) => () => {
      carrel('revoke', 'brief');
      return openFor(lifeMs);
    };
    const opened = await openFor(2_500).catch(openLonger(10_000)).catch(openLonger(60_000));
    await opened.stream.ended;
    assert.equal(await statusWith(opened.headers), 401);
  });

  it('list shows names, rights and coarse last use; tokens appear only where they were printed', async () => {
    const { stdout } = carrel('list', '--json');
    const { tokens } = JSON.parse(stdout) as { tokens: Record<string, unknown>[] };
    assert.deepEqual(
      tokens.map(({ name, expired }) => [name, expired]),
      [
        ['brief', true],
        ['full', false],
        ['short', false],
        ['some', false],
      ],
    );
    const some = tokens.find(({ name }) => name === 'some');
    assert.deepEqual([some?.['toolsets'], some?.['read_only']], [['kb', 'find'], true]);
    assert.match(String(some?.['last_used_at']), /T\d\d:00:00\.000Z$/);
    const log = readFileSync(join(dataDir, 'log', 'carrel.log'), 'utf8');
    const files = ['carrel.db', 'carrel.db-wal'].map((name) => readFileSync(join(dataDir, name), 'latin1'));
    for (const token of given) {
      for (const text of [log, stdout, program.stderrText(), ...files]) assert.equal(text.includes(token), false);
    }
  });

  it('the log and the console’s activity name who called', async () => {
    const session = await openSession(program.url, '2025-11-25', { headers: full });
    await session.call(2, 'list_threads');
    const activity = new URL('/activity', program.url).href;
    const page = await exchange(activity, { method: 'GET', headers: full });
    assert.match(page.text, /token full/);
    const line = /info called .*caller=full tool=list_threads outcome=ok/;
    await until(async () => line.test(readFileSync(join(dataDir, 'log', 'carrel.log'), 'utf8')));
    const own = await exchange(activity, { method: 'GET', headers: some });
    assert.match(own.text, /Calls with your token/);
    assert.doesNotMatch(own.text, /token full|list_threads/);
  });

  it('throttles guessing (T054), but never locks out named tokens', async () => {
    const codes = new Set<number>();
    for (let round = 0; round < 40; round += 1) {
      codes.add(await statusWith({ authorization: `Bearer carrel_${String(round).padStart(43, 'x')}` }));
    }
    assert.deepEqual([...codes].sort(), [401, 429]);
    assert.equal(await statusWith(full), 200);
  });
});

test('with a named token, serve starts beyond loopback; the configured token keeps all rights (contract §2)', async (t) => {
  const dataDir = makeFolder(t);
  const { status, stdout } = runPiped(dataDir, ['token', 'add', 'reader', '--read-only'], { env });
  assert.equal(status, 0);
  const set = 'the-token-of-the-settings';
  const both = await startListening(carrelProgram, ['serve', '--data-dir', dataDir], {
    ...env,
    CARREL_AUTH_TOKEN: set,
  });
  try {
    const canDelete = async (token: string): Promise<boolean> => {
      const headers = { ...jsonHeaders, authorization: `Bearer ${token}` };
      const session = await openSession(both.url, '2025-11-25', { headers });
      const { text } = await session.send({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
      return text.includes('delete_context');
    };
    assert.deepEqual([await canDelete(set), await canDelete(stdout.trim())], [true, false]);
  } finally {
    assert.equal(await both.stop(), 0);
  }
  const named = await startListening(carrelProgram, ['serve', '--data-dir', dataDir, '--host', '0.0.0.0'], env);
  try {
    const url = named.url.replace('0.0.0.0', '127.0.0.1');
    assert.equal((await post(url, initialize, { authorization: `Bearer ${stdout.trim()}` })).status, 200);
    // It is reachable by others, so it stays closed when the last token is revoked.
    assert.equal(runPiped(dataDir, ['token', 'revoke', '--all'], { env }).status, 0);
    assert.equal((await post(url, initialize)).status, 401);
  } finally {
    assert.equal(await named.stop(), 0);
  }
});
