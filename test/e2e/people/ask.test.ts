import assert from 'node:assert/strict';
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Owner } from '../../fakes/loopback-server.ts';
import { makeFolder, startCarrel } from '../../support/child-program.ts';
import { pause, until } from '../../support/pause.ts';
import { openSession } from '../../support/raw-http.ts';
import { runOnTerminal, runPiped } from '../../support/terminal.ts';

const env = { EMBEDDING_PROVIDER: 'none' };
const hostileTitle = '# \u009b31mRed\u202e';

/** A data folder with two documents. */
function setUp(t: Owner) {
  const folder = makeFolder(t);
  const dataDir = join(makeFolder(t), 'data');
  const docs = join(folder, 'docs');
  mkdirSync(docs);
  writeFileSync(join(docs, 'harbour.md'), `# Harbours\n\nA lighthouse. Dues are paid by the ton.\n`);
  writeFileSync(join(docs, 'hostile.md'), `${hostileTitle}\n\nA lighthouse too.\n`);
  const added = runPiped(dataDir, ['add', docs, '--collection', 'port', '--json'], { env });
  assert.equal(added.status, 0, added.stderr);
  return { folder, dataDir, docs, ...commandsIn(dataDir, env) };
}

function commandsIn(dataDir: string, commandEnv: Record<string, string>) {
  const piped = (...args: string[]) => runPiped(dataDir, args, { env: commandEnv });
  const json = (...args: string[]) => {
    const { status, stdout, stderr } = piped(...args);
    assert.equal(status, 0, stderr);
    return { answer: JSON.parse(stdout), stderr };
  };
  return { piped, json };
}

/** Shared by the tests that only add to it. With `served`, its server answers, in a quarter of the time. */
const shared = setUp({ after });
const served = { ...env, CARREL_ALONE: 'false' };
await startCarrel({ after }, ['serve', '--transport', 'http'], { dataDir: shared.dataDir, env: served });

test('contract §9: without a terminal, every command prints the tool’s answer as JSON, and stderr names the source', () => {
  const { docs, dataDir } = shared;
  const { piped, json } = commandsIn(dataDir, served);
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
  assert.equal(json('list', '--collection', 'port').answer.total, 2);
  assert.equal(json('list', '--limit', '1').answer.documents.length, 1);
  assert.deepEqual(
    json('jobs', '--status', 'done').answer.jobs.map(({ status }: { status: string }) => status),
    ['done', 'done'],
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

test('contract §9: rm deletes all URIs, or none if one is invalid, and status counts the rest', async (t) => {
  const { dataDir } = setUp(t);
  await startCarrel(t, ['serve', '--transport', 'http'], { dataDir, env: served });
  const { json, piped } = commandsIn(dataDir, served);
  const kept = json('remember', 'the gate code changes in May').answer.context_id;
  const before = json('status').answer;
  assert.deepEqual([before.data_dir, before.documents, before.memories, before.threads], [dataDir, 2, 1, 1]);
  const [{ document_id: id }] = json('list', 'harbour').answer.documents;
  const mistaken = piped('rm', String(id), 'carrel://elsewhere/1');
  assert.deepEqual([mistaken.status, json('status').answer.documents], [2, 2]);
  const uris = [`carrel://kb/doc/${id}`, `carrel://context/${kept}`];
  assert.deepEqual(json('rm', String(id), `carrel://context/${kept}`).answer.deleted, uris);
  const after = json('status').answer;
  assert.deepEqual([after.documents, after.memories, after.notes, after.queued], [1, 0, 0, 0]);
  const again = piped('rm', `carrel://context/${kept}`);
  assert.equal(again.status, 1);
  assert.match(again.stderr, /There is no memory with id/);
});

test('commands that need a model use a running process, or start one', async (t) => {
  const dataDir = join(makeFolder(t), 'data');
  const shares = { ...env, CARREL_ALONE: 'false', CARREL_IDLE_SECONDS: '600', ENABLE_RERANKING: 'false' };
  const run = (...args: string[]) => runPiped(dataDir, args, { env: shares });
  const kept = run('remember', 'the gate code changes in May', '--verbose');
  assert.equal(kept.status, 0, kept.stderr);
  assert.match(kept.stderr, /answered by the running process \d+\n.*from .*carrel\.db/s);
  assert.equal(run('get', 'carrel://context/1').stdout, 'the gate code changes in May\n');
  const [process_, ...others] = JSON.parse(run('status').stdout).processes;
  t.after(() => process.kill(process_.pid));
  assert.deepEqual([process_.role, others], ['serve', []]);
  assert.deepEqual([run('get', 'carrel://context/9').status, run('search', 'gate', '--limit', '0').status], [1, 2]);
  assert.match(run('get', 'carrel://context/1', '--verbose', '--debug').stderr, /answered by this process/);
});

test('the shared process that a command started exits when idle', async (t) => {
  const dataDir = join(makeFolder(t), 'data');
  const shares = { ...env, CARREL_ALONE: 'false', CARREL_IDLE_SECONDS: '1', ENABLE_RERANKING: 'false' };
  assert.match(runPiped(dataDir, ['remember', 'x', '--verbose'], { env: shares }).stderr, /answered by the running/);
  while (globSync('run/*.json', { cwd: dataDir }).length > 0) await pause(100);
});

test('commands use a running server with the same data and settings, on any port and with any token', async (t) => {
  const dataDir = join(makeFolder(t), 'data');
  const shares = { ...env, CARREL_ALONE: 'false', ENABLE_RERANKING: 'false' };
  const serverEnv = { ...shares, CARREL_AUTH_TOKEN: 'a-token-of-the-server' };
  const server = await startCarrel(t, ['serve', '--transport', 'http'], { dataDir, env: serverEnv });
  const answering = (args: string[], own = {}) => {
    const { status, stderr } = runPiped(dataDir, [...args, '--verbose'], { env: { ...shares, ...own } });
    assert.equal(status, 0, stderr);
    return /answered by (.*)\n/.exec(stderr)?.[1];
  };
  const itself = `the running process ${server.process.pid}`;
  assert.equal(answering(['remember', 'the gate code']), itself);
  assert.equal(answering(['get', 'carrel://context/1']), itself);
  const others = { CARREL_ALONE: 'true', DISABLED_TOOLS: 'kb_delete' };
  assert.equal(answering(['get', 'carrel://context/1'], others), 'this process');
  // With other settings, a new process is started instead of using this server.
  const readOnly = { CARREL_READ_ONLY: 'true', CARREL_IDLE_SECONDS: '1' };
  assert.notEqual(answering(['get', 'carrel://context/1'], readOnly), itself);
  await server.stop();
  assert.deepEqual(
    globSync('run/*', { cwd: dataDir }).filter((name) => name.includes(`-${server.process.pid}.`)),
    [],
  );
});

test('remember reads standard input', () => {
  const { dataDir } = shared;
  const kept = runPiped(dataDir, ['remember', '-'], { env: served, input: 'line one\nline two\n' });
  assert.equal(kept.status, 0, kept.stderr);
  const { context_id: id } = JSON.parse(kept.stdout);
  assert.equal(runPiped(dataDir, ['get', `carrel://context/${id}`], { env: served }).stdout, 'line one\nline two\n');
});

test('contract §9: on a terminal it is a table that fits, and control characters are neutralized', () => {
  const { dataDir } = shared;
  const on = (columns: number, ...args: string[]) => runOnTerminal(dataDir, args, { env: served, columns });
  const wide = on(120, 'search', 'lighthouse', '--verbose');
  assert.equal(wide.status, 0);
  assert.match(wide.stdout, /answered by the running process/);
  assert.match(wide.stdout, /SCORE|RELEVANCE/);
  assert.match(wide.stdout, /harbour\.md +l\.1-3 +.*lighthouse/);
  assert.match(wide.stdout, /^carrel: from .*carrel\.db$/m);
  for (const args of [['search', 'lighthouse'], ['find', 'lighthouse'], ['list'], ['jobs']]) {
    const { stdout } = on(60, ...args);
    const lines = stdout.split('\n').filter((line) => !line.startsWith('carrel:'));
    assert.ok(lines.length > 2, stdout);
    for (const line of lines) assert.ok(withoutStyle(line).length <= 60, `${args}: ${line}`);
  }
  for (const args of [['list'], ['list', '--json'], ['search', 'lighthouse'], ['get', '2'], ['get', '1']]) {
    const { stdout } = on(100, ...args);
    assert.doesNotMatch(withoutStyle(stdout), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/, args.join(' '));
  }
  runPiped(dataDir, ['remember', '\u001b]0;title\u0007 \u009b2J \u202e hidden'], { env: served });
  const thread = withoutStyle(on(100, 'threads', 'memory').stdout);
  assert.match(thread, /\ufffd\]0;title\ufffd \ufffd2J \ufffd hidden/);
  assert.doesNotMatch(thread, /[\u001b\u0007\u009b\u202e]/);
  const plain = runOnTerminal(dataDir, ['list'], { env: { ...served, NO_COLOR: '1' } });
  assert.doesNotMatch(plain.stdout, /\u001b/);
  assert.match(on(100, 'notes').stdout, /carrel: no notes/);
});

test("contract §9: a command and a running server see each other's writes", async (t) => {
  const { dataDir, json } = shared;
  const server = await startCarrel(t, ['serve', '--transport', 'http'], { dataDir, env });
  const session = await openSession(server.url);
  json('remember', 'written beside the server', '--thread', 'both');
  const seen = await session.call(1, 'search_context', { thread_id: 'both' });
  assert.match(seen.text, /written beside the server/);
  const saved = await session.call(2, 'save_note', { title: 'By the server', content: 'A capstan.' });
  assert.doesNotMatch(saved.text, /isError":true/);
  const { answer } = json('notes', 'capstan');
  assert.equal(answer.notes[0].title, 'By the server');
});

test('with KB_ENGINE_URL uses that engine, and stderr says so', async (t) => {
  const { dataDir } = shared;
  const engine = await startCarrel(t, ['engine'], { dataDir, env: { ...env, KB_API_KEY: 'the-key' } });
  const elsewhere = join(makeFolder(t), 'data');
  const remote = { ...env, KB_ENGINE_URL: engine.origin, KB_API_KEY: 'the-key' };
  for (const args of [['search', 'lighthouse'], ['list'], ['jobs'], ['get', '1']]) {
    const { status, stdout, stderr } = runPiped(elsewhere, args, { env: remote });
    assert.equal(status, 0, stderr);
    assert.match(stdout, /harbour|lighthouse/i, args.join(' '));
    assert.equal(stderr, `carrel: from the engine at ${new URL(engine.origin).host}\n`);
  }
  const refused = runPiped(elsewhere, ['list'], { env: { ...remote, KB_API_KEY: 'wrong' } });
  assert.equal(refused.status, 69);
  assert.doesNotMatch(refused.stderr, /wrong|the-key/);
});

test('a failure is one line: usage errors exit with 2, and read-only settings hold', () => {
  const { dataDir } = shared;
  const { piped } = commandsIn(dataDir, served);
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
  const folder = makeFolder(t);
  const { docs, dataDir } = shared;
  const { piped } = commandsIn(dataDir, served);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const opened = join(folder, 'opened');
  writeFileSync(
    join(bin, 'xdg-open'),
    `#!/bin/sh\nprintf '%s|' "$@" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
  );
  chmodSync(join(bin, 'xdg-open'), 0o755);
  const path = `${bin}:${process.env['PATH']}`;
  const name = 'a b; touch pwned.md';
  writeFileSync(join(docs, name), '# Anchors\n\nChains and anchors.\n');
  writeFileSync(join(docs, 'run.sh'), '#!/bin/sh\n# a capstan turns\n');
  assert.equal(piped('add', docs, '--json').status, 0);

  const found = runPiped(dataDir, ['search', 'anchors', '--open'], { env: { ...served, PATH: path } });
  assert.equal(found.status, 0, found.stderr);
  await until(() => existsSync(opened));
  assert.equal(readFileSync(opened, 'utf8'), `${join(docs, name)}|`);

  const refused = runPiped(dataDir, ['search', 'capstan', '--open'], { env: { ...served, PATH: path } });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /run\.sh" might be executed/);
});

function withoutStyle(text: string): string {
  return text.replaceAll(/\u001b\[\d+m/g, '');
}
