import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { startOllama } from '../../fakes/ollama.ts';
import { pdfBombs } from '../../security/parsers/bombs.ts';
import { zipOf } from '../../security/parsers/raw-zip.ts';
import { makeFolder, withModels } from '../../support/child-program.ts';
import { type Json, startEngine } from '../../support/engine-client.ts';
import { until } from '../../support/pause.ts';
import { checkSharedQueue } from '../../support/share-queue.ts';

/** For the tests that do not disturb each other. */
const engine = await startEngine(
  { after },
  { env: { KB_TEXT_CHARS_MAX: '10000', KB_EXTRACT_MEMORY_MB: '160', KB_WORKERS: '1' } },
);

async function stored() {
  const kept = globSync('*', { cwd: join(engine.program.dataDir, 'documents'), exclude: ['incoming'] });
  return { documents: Number((await engine.get('/documents'))['total']), files: kept.length };
}

test('a poisoned file fails alone, with a helpful reason, while searches continue', async () => {
  const before = await stored();
  const good = await engine.documentIdOf(await engine.addNote('a lighthouse in the fog'));
  const zeros = Buffer.alloc(24 * 1024 * 1024);
  const poisons: [name: string, content: string | Uint8Array][] = [
    ['picture.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['program.bin', Buffer.from('7f454c46020101000000000000000000', 'hex')],
    ['broken.pdf', '%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\nxref garbage'],
    ['truncated.docx', zipOf({ 'word/document.xml': '<w:document>' }).subarray(0, 60)],
    ['blank.txt', ' \n\t\u200b\n '],
    ['bomb.docx', zipOf({ '[Content_Types].xml': '<Types/>', 'word/document.xml': zeros })],
  ];
  const jobs = await Promise.all(poisons.map(([name, content]) => engine.addFile(name, content)));
  const late = await engine.addFile('good.txt', 'good news come last');
  const ended: Json[] = [];
  for (const job of jobs) {
    const end = engine.waitForJob(job);
    // Searches continue throughout.
    assert.equal((await engine.search({ query: 'lighthouse' })).results[0]?.['document_id'], good);
    ended.push(await end);
  }
  for (const [index, job] of ended.entries()) {
    const [name = ''] = poisons[index] ?? [];
    assert.equal(job['status'], 'failed', `${name} ${JSON.stringify(job)}`);
    assert.match(String(job['error']), /^[A-Z][^\n]{20,400}\.$/, name);
    assert.doesNotMatch(String(job['error']), /at .*:\d+:\d+|node_modules|Error:/, name);
    assert.equal(job['document_id'], null);
    assert.deepEqual(job['progress'], { phase: name === 'blank.txt' ? 'chunking' : 'extracting' }, name);
  }
  assert.ok(await engine.documentIdOf(late));
  assert.deepEqual(await stored(), { documents: before.documents + 2, files: before.files + 1 });
});

test('a failed file may be submitted again', async () => {
  const first = await engine.addFile('blank.txt', ' \n ');
  assert.equal((await engine.waitForJob(first))['status'], 'failed');
  const again = await engine.addFile('blank.txt', ' \n ');
  assert.equal((await engine.waitForJob(again))['status'], 'failed');
  assert.notEqual(again, first);
});

test('issue "PDF, with page numbers": each chunk of a PDF has its page, however short the pages are', async () => {
  const pdf = readFileSync(new URL('../../corpus/pdf/chromium.pdf', import.meta.url));
  const id = await engine.documentIdOf(await engine.addFile('handbook.pdf', pdf));
  const { chunks } = (await engine.get(`/documents/${id}`)) as { chunks: { chunk_metadata: Json }[] };
  assert.deepEqual(
    chunks.map(({ chunk_metadata: place }) => place),
    [{ page: 1 }, { page: 2 }, { page: 3 }],
  );
});

test('contract §6: cancelling a running job leaves nothing', async () => {
  const before = await stored();
  const slow = pdfBombs.find(({ name }) => name.includes('forms that double'));
  assert.ok(slow);
  const job = await engine.addFile('slow.pdf', Buffer.from(slow.bytes()));
  await until(async () => ((await engine.get(`/jobs/${job}`))['progress'] as Json)['phase'] === 'extracting');
  const { status, json } = await engine.call('DELETE', `/jobs/${job}`);
  assert.deepEqual([status, json['status']], [200, 'cancelled']);
  const next = await engine.documentIdOf(await engine.addNote('the next one is not held up'));
  assert.ok(next > 0);
  assert.equal((await engine.get(`/jobs/${job}`))['status'], 'cancelled');
  assert.deepEqual(await stored(), { ...before, documents: before.documents + 1 });
});

test('contract §8: job, document and hits report truncation', async () => {
  const job = await engine.addFile('long.txt', `${'the lamp is lit. '.repeat(2000)}`);
  const id = await engine.documentIdOf(job);
  const truncated = { reason: 'characters', read: 9999, of: 34000, unit: 'characters' };
  for (const path of [`/jobs/${job}`, `/documents/${id}`]) {
    assert.deepEqual((await engine.get(path))['truncated'], truncated, path);
  }
  const [hit] = (await engine.call('POST', '/search', { query: 'lamp' })).json['results'] as Json[];
  assert.deepEqual(hit?.['truncated'], truncated);
});

test('contract §6: jobs queued at a stop are ingested after the restart, and embedded', async (t) => {
  const dataDir = join(makeFolder(t), 'data');
  const ollama = await startOllama(t);
  const env = { EMBEDDING_PROVIDER: 'ollama', OLLAMA_HOST: ollama.origin, KB_WORKERS: '1' };
  const first = await startEngine(t, { dataDir, env });
  ollama.mode = 'hung';
  const jobs: number[] = [];
  for (let index = 0; index < 3; index += 1) jobs.push(await first.addFile(`${index}.txt`, `waiting file ${index}`));
  assert.equal(await first.program.stop(), 0);
  ollama.mode = 'up';
  const second = await startEngine(t, { dataDir, env });
  const ids = new Set<number>();
  for (const job of jobs) ids.add(await second.documentIdOf(job));
  assert.equal(ids.size, 3);
  assert.equal((await second.get('/documents'))['total'], 3);
  for (const job of jobs) assert.equal((await second.get(`/jobs/${job}`))['attempts'], 1, 'a stop is no failure');
  await until(async () => (await second.get('/status'))['unembedded'] === 0);

  await t.test(
    'contract §3, §8: without its provider a job is done when its words are found; its vectors follow, and are counted until then',
    async () => {
      ollama.mode = 'down';
      const job = await second.addNote('quartz vein under the hill');
      const id = await second.documentIdOf(job);
      const words = await second.search({ query: 'quartz' });
      assert.deepEqual(
        words.results.map((hit) => hit['document_id']),
        [id],
      );
      assert.match(String(words['degraded']), /words only/);
      assert.equal((await second.get('/status'))['unembedded'], 1);
      const shown = await second.get(`/jobs/${job}`);
      assert.deepEqual([shown['status'], shown['progress'], shown['pending']], ['done', { phase: 'indexing' }, 1]);
      assert.equal((await second.get(`/documents/${id}`))['pending'], 1);

      ollama.mode = 'up';
      await until(async () => !('pending' in (await second.get(`/documents/${id}`))));
      assert.equal('pending' in (await second.get(`/jobs/${job}`)), false);
      assert.equal((await second.get('/status'))['unembedded'], 0);
      const found = await until(async () => {
        const answer = await second.search({ query: 'quartz vein under the hill', vec_only: true });
        return !('degraded' in answer) && answer;
      });
      assert.equal(found.results[0]?.['document_id'], id);
      assert.ok(Number(found.results[0]?.['score']) > 0.5);
      const [hit] = (await second.search({ query: 'quartz hill' })).results;
      assert.deepEqual(Object.keys(hit?.['why'] as Json).sort(), ['evidence', 'meaning', 'rrf', 'words']);
    },
  );
});

test("two engines on one SQLite file share its queue and see each other's writes", async (t) => {
  await checkSharedQueue([engine, await startEngine(t, { dataDir: engine.program.dataDir, env: { KB_WORKERS: '1' } })]);
});

test('with the bundled model, a question finds a differently worded answer', async (t) => {
  const engine = await startEngine(t, { env: withModels });
  const cat = await engine.documentIdOf(await engine.addNote('The kitten slept on the sofa all afternoon.'));
  await engine.documentIdOf(await engine.addNote('Quarterly revenue grew by nine percent.'));
  const asked = { query: 'where did the young cat take a nap', vec_only: true };
  const found = await engine.search(asked);
  assert.deepEqual(
    found.results.map(({ document_id: id }) => id),
    [cat],
  );
  // Irrelevant results are omitted unless requested.
  const all = await engine.search({ ...asked, include_weak: true });
  assert.deepEqual([all.results[0]?.['document_id'], all.total_matches], [cat, 2]);
  assert.ok(!('degraded' in found));
});
