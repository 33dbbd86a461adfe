import assert from 'node:assert/strict';
import { chmodSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { makeFolder, startCarrel } from '../../support/child-program.ts';
import { until } from '../../support/pause.ts';
import { openSession } from '../../support/raw-http.ts';
import { type CliRun, runOnTerminal, runPiped } from '../../support/terminal.ts';

const env = { EMBEDDING_PROVIDER: 'none' };
const hostileTitle = '# \u009b31mRed\u202e';

/** Shared by the tests that only add to it or delete what no other test uses. */
const dataDir = join(makeFolder({ after }), 'data');
const docs = makeFolder({ after });
const openedName = 'a b; touch pwned.md';
const files = {
  'harbour.md': '# Harbours\n\nA lighthouse. Dues are paid by the ton.\n',
  'hostile.md': `${hostileTitle}\n\nA lighthouse too.\n`,
  'deleted.md': '# Moorings\n',
  [openedName]: '# Anchors\n\nChains and anchors.\n',
  'run.sh': '#!/bin/sh\n# a capstan turns\n',
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(docs, name), text);
const fileCount = Object.keys(files).length;

/** With `served`, the server answers, in a quarter of the time. */
const served = { ...env, CARREL_ALONE: 'false' };
const token = 'a-token-of-the-server';
const server = await startCarrel({ after }, ['serve', '--transport', 'http'], {
  dataDir,
  env: { ...served, CARREL_AUTH_TOKEN: token },
});
const piped = (...args: string[]) => runPiped(dataDir, args, { env: served });
const added = piped('add', docs, '--collection', 'port', '--json');
assert.equal(added.status, 0, added.stderr);

function json(...args: string[]) {
  return jsonOf(piped(...args));
}

function jsonOf({ status, stdout, stderr }: CliRun) {
  assert.equal(status, 0, stderr);
  return { answer: JSON.parse(stdout), stderr };
}

test('contract §9: without a terminal, every command prints the tool’s answer as JSON, and stderr names the source', () => {
  const { answer, stderr } = json('search', 'harbour', 'dues', '--limit', '1');
  assert.equal(answer.query, 'harbour dues');
  assert.equal(answer.results.length, 1);
  assert.equal(answer.results[0].source_path, join(docs, 'harbour.md'));
  assert.equal(stderr, `carrel: from ${join(dataDir, 'carrel.db')}\n`);
  const id = answer.results[0].document_id;

  const elsewhere = piped('search', 'lighthouse', '--collection', 'elsewhere');
  assert.equal(elsewhere.status, 1);
  assert.match(elsewhere.stderr, /There is no collection elsewhere\. Existing collections: port\./);
  assert.deepEqual(json('list', 'harbour').answer.documents.length, 1);
  const limited = json('list', '--collection', 'port', '--limit', '1').answer;
  assert.deepEqual([limited.total, limited.documents.length], [fileCount, 1]);
  assert.deepEqual(
    json('jobs', '--status', 'done').answer.jobs.map(({ status }: { status: string }) => status),
    Array(fileCount).fill('done'),
  );
  assert.equal(json('jobs', '1').answer.total, 1);
  const kept = json('remember', 'the', 'gate', 'code', '--thread', 'keys', '--tag', 'home').answer;
  assert.equal(json('threads').answer.threads[0].thread_id, 'keys');
  assert.deepEqual(json('threads', 'keys').answer.results[0].tags, ['home']);
  assert.equal(json('find', 'gate').answer.results[0].uri, `carrel://context/${kept.context_id}`);
  assert.equal(json('notes').answer.total_count, 0);

  assert.match(piped('get', String(id)).stdout, /^# Harbours\n\nA lighthouse\. Dues/);
  assert.equal(piped('get', `carrel://context/${kept.context_id}`).stdout, 'the gate code\n');
  const whole = json('get', `carrel://kb/doc/${id}`, '--json').answer;
  assert.equal(whole.source_path, join(docs, 'harbour.md'));
  assert.match(whole.text, /lighthouse/);
});

test('contract §9: rm deletes all URIs, or none if one is invalid, and status counts the rest and names the running process', () => {
  const kept = json('remember', 'the gate code changes in May').answer.context_id;
  const before = json('status').answer;
  assert.deepEqual([before.data_dir, before.documents], [dataDir, fileCount]);
  const processes = before.processes.map(({ pid, role }: { pid: number; role: string }) => [pid, role]);
  assert.deepEqual(processes, [[server.process.pid, 'serve']]);
  const [{ document_id: id }] = json('list', 'Moorings').answer.documents;
  assert.equal(piped('rm', String(id), 'carrel://elsewhere/1').status, 2);
  const uris = [`carrel://kb/doc/${id}`, `carrel://context/${kept}`];
  assert.deepEqual(json('rm', String(id), `carrel://context/${kept}`).answer.deleted, uris);
  const after = json('status').answer;
  assert.deepEqual(
    [after.documents, after.memories, after.notes, after.queued],
    [fileCount - 1, before.memories - 1, before.notes, 0],
  );
  const again = piped('rm', `carrel://context/${kept}`);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /There is no memory with id/);
});

test('commands use a running server with the same data and settings, on any port and with any token, or start one that exits when idle', async () => {
  const answering = (args: string[], own = {}) => {
    const { status, stdout, stderr } = runPiped(dataDir, [...args, '--verbose'], { env: { ...served, ...own } });
    assert.equal(status, 0, stderr);
    assert.match(stderr, /from .*carrel\.db/);
    return { by: /answered by (.*)\n/.exec(stderr)?.[1], stdout };
  };
  const itself = `the running process ${server.process.pid}`;
  const kept = answering(['remember', 'the gate code changes in May']);
  assert.equal(kept.by, itself);
  const get = ['get', `carrel://context/${JSON.parse(kept.stdout).context_id}`];
  assert.deepEqual(answering(get), { by: itself, stdout: 'the gate code changes in May\n' });
  assert.equal(answering([...get, '--debug']).by, 'this process');
  assert.equal(answering(get, { CARREL_ALONE: 'true', DISABLED_TOOLS: 'kb_delete' }).by, 'this process');
  // With other settings, a new process is started instead of using this server.
  const readOnly = { CARREL_READ_ONLY: 'true', CARREL_IDLE_SECONDS: '1' };
  const started = /^the running process (\d+)$/.exec(answering(get, readOnly).by ?? '')?.[1];
  assert.ok(started !== undefined && started !== String(server.process.pid), started);
  await until(() => globSync(`run/*-${started}.*`, { cwd: dataDir }).length === 0);
});

test('remember reads standard input', () => {
  const kept = runPiped(dataDir, ['remember', '-'], { env: served, input: 'line one\nline two\n' });
  assert.equal(kept.status, 0, kept.stderr);
  const { context_id: id } = JSON.parse(kept.stdout);
  assert.equal(piped('get', `carrel://context/${id}`).stdout, 'line one\nline two\n');
});

test('contract §9: on a terminal it is a table that fits, and control characters are neutralized', () => {
  const on = (columns: number, args: string[], own = {}) =>
    runOnTerminal(dataDir, args, { env: { ...served, ...own }, columns });
  const assertNeutral = (stdout: string) =>
    assert.doesNotMatch(withoutStyle(stdout), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  const wide = on(120, ['search', 'lighthouse', '--verbose']);
  assert.equal(wide.status, 0);
  assert.match(wide.stdout, /answered by the running process/);
  assert.match(wide.stdout, /SCORE|RELEVANCE/);
  assert.match(wide.stdout, /harbour\.md +l\.1-3 +.*lighthouse/);
  assert.match(wide.stdout, /^carrel: from .*carrel\.db$/m);
  for (const args of [['search', 'lighthouse'], ['find', 'lighthouse'], ['list'], ['jobs']]) {
    const { stdout } = on(60, args);
    const lines = stdout.split('\n').filter((line) => !line.startsWith('carrel:'));
    assert.ok(lines.length > 2, stdout);
    for (const line of lines) assert.ok(withoutStyle(line).length <= 60, `${args}: ${line}`);
    assertNeutral(stdout);
  }
  const plain = on(100, ['list', 'hostile', '--json'], { NO_COLOR: '1' }).stdout;
  assert.doesNotMatch(plain, /\u001b/);
  assertNeutral(plain);
  assertNeutral(on(100, ['get', /"document_id": (\d+)/.exec(plain)?.[1] ?? '']).stdout);
  piped('remember', '\u001b]0;title\u0007 \u009b2J \u202e hidden');
  const thread = withoutStyle(on(100, ['threads', 'memory']).stdout);
  assert.match(thread, /\ufffd\]0;title\ufffd \ufffd2J \ufffd hidden/);
  assert.doesNotMatch(thread, /[\u001b\u0007\u009b\u202e]/);
  assert.match(on(100, ['notes', 'nothing']).stdout, /carrel: no notes/);
});

test("contract §9: a command and a running server see each other's writes", async () => {
  const session = await openSession(server.url, '2025-11-25', { headers: { authorization: `Bearer ${token}` } });
  const beside = (...args: string[]) => jsonOf(runPiped(dataDir, args, { env }));
  beside('remember', 'written beside the server', '--thread', 'both');
  const seen = await session.call(1, 'search_context', { thread_id: 'both' });
  assert.match(seen.text, /written beside the server/);
  const saved = await session.call(2, 'save_note', { title: 'By the server', content: 'A capstan.' });
  assert.doesNotMatch(saved.text, /isError":true/);
  const { answer } = beside('notes', 'capstan');
  assert.equal(answer.notes[0].title, 'By the server');
});

test('with KB_ENGINE_URL uses that engine, and stderr says so', async (t) => {
  const engine = await startCarrel(t, ['engine'], { dataDir, env: { ...env, KB_API_KEY: 'the-key' } });
  const elsewhere = join(makeFolder(t), 'data');
  const remote = { ...env, KB_ENGINE_URL: engine.origin, KB_API_KEY: 'the-key' };
  const { status, stdout, stderr } = runPiped(elsewhere, ['search', 'lighthouse'], { env: remote });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /harbour/i);
  assert.equal(stderr, `carrel: from the engine at ${new URL(engine.origin).host}\n`);
  const refused = runPiped(elsewhere, ['list'], { env: { ...remote, KB_API_KEY: 'wrong' } });
  assert.equal(refused.status, 69);
  assert.doesNotMatch(refused.stderr, /wrong|the-key/);
});

test('a failure is one line: usage errors exit with 2, and read-only settings hold', () => {
  for (const [args, message] of [
    [['search', 'x', '--limit', 'ten'], /--limit must be a whole number/],
    [['search', 'x', '--limit', '1000'], /limit must be at most 100/],
    [['get', 'nothing'], /is not a known URI/],
    [['remember'], /needs the text/],
  ] as const) {
    const { status, stderr } = piped(...args);
    assert.equal(status, 2, stderr);
    assert.match(stderr, message);
  }
  const missing = piped('get', '99');
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /No document/);
  const { status, stderr } = runPiped(dataDir, ['remember', 'x'], { env: { ...env, CARREL_READ_ONLY: 'true' } });
  assert.equal(status, 1);
  assert.match(stderr, /disabled/);
});

test('--open hands the first hit’s file to the system’s opener as one argument, and never a program', async (t) => {
  const bin = makeFolder(t);
  const opened = join(bin, 'opened');
  writeFileSync(
    join(bin, 'xdg-open'),
    `#!/bin/sh\nprintf '%s|' "$@" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
  );
  chmodSync(join(bin, 'xdg-open'), 0o755);
  const path = `${bin}:${process.env['PATH']}`;
  const found = runPiped(dataDir, ['search', 'anchors', '--open'], { env: { ...served, PATH: path } });
  assert.equal(found.status, 0, found.stderr);
  await until(() => existsSync(opened));
  assert.equal(readFileSync(opened, 'utf8'), `${join(docs, openedName)}|`);

  const refused = runPiped(dataDir, ['search', 'capstan', '--open'], { env: { ...served, PATH: path } });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /run\.sh" might be executed/);
});

// Last, because it stops the server.
test('a stopped server leaves nothing in the folder of running processes', async () => {
  const ofServer = () => globSync(`run/*-${server.process.pid}.*`, { cwd: dataDir });
  assert.notDeepEqual(ofServer(), []);
  await server.stop();
  assert.deepEqual(ofServer(), []);
});

function withoutStyle(text: string): string {
  return text.replaceAll(/\u001b\[\d+m/g, '');
}
