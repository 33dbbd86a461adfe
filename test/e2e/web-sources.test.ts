import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connectAgent } from '../acceptance/kb/kb-fixture.ts';
import { startTrapSite } from '../fakes/trap-site.ts';
import { carrelProgram, makeFolder, startCarrel, startProgram } from '../support/child-program.ts';
import { until } from '../support/pause.ts';

const pages = 6;
const env = { EMBEDDING_PROVIDER: 'none', FETCH_ALLOW_PRIVATE: '127.0.0.1', FETCH_OWN_HOSTS: '127.0.0.1' };

function setUp(t: TestContext) {
  const dataDir = join(makeFolder(t), 'data');
  const start = (...args: string[]) => {
    const program = startProgram(carrelProgram, args, env, { folder: '/', dataDir });
    t.after(() => program.process.kill('SIGKILL'));
    return program;
  };
  async function run(...args: string[]) {
    const program = start(...args);
    let stdout = '';
    program.process.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const status = await program.exited;
    return { status, stdout, stderr: program.stderrText(), json: () => JSON.parse(stdout) };
  }
  return { start, run };
}

test('contract §9: a killed crawl resumes, and sources are listed, refreshed, paused and removed', async (t) => {
  const site = await startTrapSite(t, { pages });
  const { start, run } = setUp(t);
  const url = `${site.origin}/docs/p/1.html`;
  // The first half is answered at once, the rest after the first process is dead.
  const dead = Promise.withResolvers<void>();
  const halfway = site.after(pages / 2);
  void halfway.then(() => site.hold(dead.promise));
  const first = start('add', url, '--site', '--depth', '20', '--collection', 'docs', '--version', '2.4', '--wait');
  await halfway;
  first.process.kill('SIGKILL');
  await first.exited;
  dead.resolve();
  const again = await run('sources', 'refresh', '1', '--wait', '--json');
  assert.equal(again.status, 0, again.stderr);
  assert.equal(again.json().runs[0].status, 'done');
  const { documents, total } = (await run('list', '--collection', 'docs', '--tag', 'version:2.4', '--json')).json();
  assert.equal(total, pages);
  assert.deepEqual(
    documents.map((each: { source_path: string }) => new URL(each.source_path).pathname).sort(),
    Array.from({ length: pages }, (_, index) => `/docs/p/${index + 1}.html`).sort(),
  );

  const unchanged = (await run('sources', 'refresh', '--all', '--wait', '--json')).json().runs[0];
  assert.deepEqual([unchanged.unchanged, unchanged.new, unchanged.changed], [pages, 0, 0]);
  assert.match((await run('sources', 'pause', '1')).stderr, /paused http/);
  assert.equal((await run('sources', '--json')).json().sources[0].status, 'paused');
  const unclear = await run('sources', 'remove', '1');
  assert.deepEqual([unclear.status, /--with-documents/.test(unclear.stderr)], [2, true]);
  assert.match((await run('sources', 'remove', '1', '--with-documents')).stderr, /6 documents moved to the trash/);

  assert.equal((await run('add', `${site.origin}/docs/gone`)).status, 1);
  assert.match((await run('add', url, '--watch')).stderr, /--watch is for files/);
  assert.match((await run('add', '.', '--site')).stderr, /--site is for addresses/);
  assert.match((await run('add', url, '--refresh', 'sometimes')).stderr, /refresh must be daily/);
});

test('contract §8: agents add a page with kb_add, list sources and are notified of their runs', async (t) => {
  const site = await startTrapSite(t, { pages });
  const { url: mcpUrl } = await startCarrel(t, ['kb'], { env });
  const { client, fail } = await connectAgent(t, mcpUrl);
  const call = async (name: string, args = {}) =>
    Object((await client.callTool({ name, arguments: args })).structuredContent);
  const added = await call('kb_add', {
    url: `${site.origin}/docs/p/${pages}.html?utm_source=x`,
    tags: ['crane'],
  });
  assert.equal(added['status'], 'queued');
  const uri = `carrel://kb/source/${added['source_id']}`;
  const read = async () => JSON.parse(Object((await client.readResource({ uri })).contents[0]).text);
  await until(async () => (await read()).last_run !== undefined);
  const { sources } = await call('kb_sources');
  const [{ last_run: last, tags, mode }] = sources as [{ last_run: { new: number }; tags: string[]; mode: string }];
  assert.deepEqual([last.new, tags, mode], [1, ['crane'], 'page']);
  const { jobs } = await call('kb_jobs', { job_id: added['job_id'] });
  assert.equal((jobs as [{ summary: { new: number } }])[0].summary.new, 1);
  assert.match((await fail('kb_add', { url: 'ftp://example.org/' })).message, /url must be an http or https address/);
  assert.match((await fail('kb_add', { url: site.origin, text: 'x' })).message, /exactly one of text, path and url/);
});
