import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { documentsOf, hashesOf } from '../support/add-program.ts';
import { carrelProgram, cleanEnv, makeFolder, startCarrel } from '../support/child-program.ts';

const env = { EMBEDDING_PROVIDER: 'none' };

test('contract §9: carrel add ingests files and folders, and reports each outcome', async (t) => {
  const { folder, dataDir, run } = setUp(t);
  write(folder, {
    'a.md': '# Harbours\n\nA lighthouse.',
    'deep/b.txt': 'A ship.',
    'deep/copy.md': '# Harbours\n\nA lighthouse.',
    'broken.pdf': '%PDF-1.4 no more',
    'empty.txt': '',
    '.hidden': 'hidden',
    '.git/config': 'hidden',
    'node_modules/p/index.js': 'installed',
    'draft~': 'kept by an editor',
    'page.tmp': 'excluded',
  });
  const outside = makeFolder(t);
  writeFileSync(join(outside, 'secret.txt'), 'outside');
  symlinkSync(join(outside, 'secret.txt'), join(folder, 'link.txt'));
  symlinkSync(outside, join(folder, 'linked'));

  const { status, lines } = run(folder, '--collection', 'harbour', '--tag', 'x', '--tag', 'y', '--exclude', '*.tmp');
  assert.equal(status, 1, 'one file failed');
  const [found] = lines;
  assert.equal(found?.['files'], 4);
  assert.deepEqual(found?.['passed_over'], {
    hidden: 3,
    packages: 1,
    links: 2,
    empty: 1,
    special: 0,
    excluded: 1,
    ignored: 0,
  });
  const outcomes = lines.filter(({ event }) => ['added', 'duplicate', 'failed'].includes(String(event)));
  assert.deepEqual(outcomes.map(({ event }) => event).sort(), ['added', 'added', 'duplicate', 'failed']);
  const failed = outcomes.find(({ event }) => event === 'failed');
  assert.equal(failed?.['path'], join(folder, 'broken.pdf'));
  assert.match(String(failed?.['error']), /PDF.*damaged/i);
  const { seconds: _, ...summary } = lines.at(-1) ?? {};
  assert.deepEqual(summary, { event: 'summary', added: 2, duplicates: 1, failed: 1, pending: 0 });

  const engine = await startCarrel(t, ['engine'], { dataDir, env });
  const documents = await documentsOf(engine.url, 'harbour');
  const files = hashesOf(folder);
  assert.equal(Object.keys(documents).length, 2);
  for (const [path, hash] of Object.entries(documents)) assert.equal(files[path], hash, path);
  const answer = await fetch(`${engine.url}/documents?tags=collection:harbour,x,y`);
  assert.equal(Reflect.get(Object(await answer.json()), 'total'), 2, 'collection and tags are on each');

  const again = run(join(folder, 'deep'), join(folder, 'a.md'), '--collection', 'harbour', {
    KB_ENGINE_URL: engine.origin,
  });
  assert.equal(again.status, 0, 'what is there already is no failure');
  assert.equal(again.lines.at(-1)?.['duplicates'], 3);
});

const remoteEngine = await startCarrel({ after }, ['engine'], { env: { ...env, KB_API_KEY: 'key' } });
const remote = { KB_ENGINE_URL: remoteEngine.origin, KB_API_KEY: 'key' };
const isLinux = process.platform === 'linux';

test('reports non-files and names that are not UTF-8', { skip: !isLinux }, (t) => {
  const { folder, run } = setUp(t);
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/b`), Buffer.from([0xff]), Buffer.from('.txt')]), 'text');
  const { lines } = run(folder, '/dev/null', remote);
  assert.deepEqual({ ...Object(lines[0]?.['passed_over']), special: 1, empty: 0 }, lines[0]?.['passed_over']);
  assert.match(String(lines[1]?.['error']), /name may not be valid UTF-8/);
});

test('contract §9: carrel add uses the engine at KB_ENGINE_URL, and applies --include', (t) => {
  const { folder, run } = setUp(t);
  write(folder, { 'a.md': 'alpha', 'b.txt': 'beta', 'docs/c.md': 'gamma' });
  const { status, lines } = run(folder, '--include', '*.md', remote);
  assert.equal(status, 0);
  assert.equal(lines.at(-1)?.['added'], 2);
  const refused = run(folder, { ...remote, KB_API_KEY: 'wrong' });
  assert.notEqual(refused.status, 0);
  assert.doesNotMatch(refused.stderr, /wrong/);
});

test('contract §1: reports an impossible command in one line with an exit code, and starts nothing', (t) => {
  const { folder, run } = setUp(t);
  write(folder, { 'a.md': 'alpha' });
  const cases: [number, RegExp, (string | Record<string, string>)[]][] = [
    [2, /needs the files/, []],
    [2, /does not exist/, [join(folder, 'missing')]],
    [2, /is not a folder/, [join(folder, 'a.md'), '--watch']],
    [2, /exactly one collection/, [folder, '--collection', 'a', '--tag', 'collection:b']],
    [69, /engine/i, [folder, { KB_ENGINE_URL: 'http://127.0.0.1:9' }]],
  ];
  for (const [code, message, args] of cases) {
    const { status, stderr } = run(...args);
    assert.equal(status, code, `${JSON.stringify(args)}: ${stderr}`);
    assert.match(stderr, message);
    assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
  }
});

function setUp(t: TestContext) {
  const folder = realpathSync(makeFolder(t));
  const dataDir = join(makeFolder(t), 'data');
  const run = (...given: (string | Record<string, string>)[]) => {
    const args = given.filter((each) => typeof each === 'string');
    const more = Object.assign({}, ...given.filter((each) => typeof each !== 'string'));
    const { status, stdout, stderr } = spawnSync(process.execPath, [carrelProgram, 'add', ...args, '--json'], {
      env: cleanEnv(dataDir, { ...env, ...more }),
      encoding: 'utf8',
    });
    const lines: Record<string, unknown>[] = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    return { status, stderr, lines };
  };
  return { folder, dataDir, run };
}

function write(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}
