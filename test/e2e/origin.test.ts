import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startPageSite } from '../fakes/page-site.ts';
import { type Carrel, startCarrel } from '../support/child-program.ts';
import { until } from '../support/pause.ts';
import { modernRequest, post } from '../support/raw-http.ts';

type Answer = Record<string, unknown>;

/** Every tool reports the origin of its text, so that clients can isolate untrusted text. */
describe('the origin of text', () => {
  const endings: (() => unknown)[] = [];
  const owner = { after: (ending: () => unknown) => void endings.push(ending) };
  after(async () => {
    for (const end of endings.toReversed()) await end();
  });
  let carrel: Carrel;
  let page: string;
  const call = async (name: string, args: object): Promise<Answer> => {
    const { headers, message } = modernRequest('tools/call', { name, arguments: args });
    const answer = await post(carrel.url, message, headers);
    const result = answer.messages[0]?.result;
    assert.notEqual(result?.['isError'] ?? result === undefined, true, answer.text);
    return Object(result?.['structuredContent']);
  };
  const each = (answer: Answer, list: string): Answer[] => answer[list] as Answer[];

  before(async () => {
    const site = await startPageSite(owner);
    page = `${site.origin}/article`;
    carrel = await startCarrel(owner, ['serve', '--transport', 'http', '--toolsets', 'context,research,kb,find'], {
      env: { EMBEDDING_PROVIDER: 'none', FETCH_ALLOW_PRIVATE: `127.0.0.1:${site.port}` },
    });
  });

  test('a web page keeps the origin web as a note, an entry and a document', async () => {
    const fetched = await call('fetch_page', { url: page });
    assert.equal(fetched['origin'], 'web');
    const content = String(fetched['content']);

    const { note } = await call('save_note', { title: 'Crane', content, source_urls: [page] });
    assert.equal(Object(note)['origin'], 'web');
    const { note: own } = await call('save_note', { title: 'Wheel', content: 'The wheel of a crane, as I saw it.' });
    assert.equal('origin' in Object(own), false);
    const notes = each(await call('list_notes', { query: 'crane' }), 'notes');
    assert.deepEqual(
      new Map(notes.map(({ title, origin }) => [title, origin])),
      new Map([
        ['Crane', 'web'],
        ['Wheel', undefined],
      ]),
    );
    const got = await call('get_note', { id: Object(note)['id'] });
    assert.equal(Object(got['note'])['origin'], 'web');

    const common = { thread_id: 't', source: 'agent' };
    const web = await call('store_context', { ...common, text: content, metadata: { url: page } });
    const stated = await call('store_context', { ...common, text: 'crane upstream', metadata: { origin: 'upstream' } });
    const plain = await call('store_context', { ...common, text: 'a crane of mine', metadata: { origin: 'nonsense' } });
    const ids = [web, stated, plain].map((stored) => stored['context_id']);
    const entries = each(await call('get_context_by_ids', { context_ids: ids }), 'result');
    const origins = new Map(entries.map(({ id, origin }) => [id, origin]));
    assert.deepEqual(
      ids.map((id) => origins.get(id)),
      ['web', 'upstream', undefined],
    );
    const found = each(await call('fts_search_context', { query: 'crane', limit: 10 }), 'results');
    assert.deepEqual(found.map(({ origin }) => origin).toSorted(), ['upstream', 'web', undefined]);
    const range = await call('read_context_range', { context_id: ids[0], start_char: 0, end_char: 20 });
    assert.equal(range['origin'], 'web');
  });

  test('documents have the origin file, a note its writer, and a note about a page the web', async () => {
    const jobs = [
      await call('kb_addnote', { text: 'The harbour as its keeper knows it.', title: 'own' }),
      await call('kb_addnote', { text: 'The harbour as a page has it.', title: 'page', source_path: page }),
    ];
    const started = await call('kb_upload_start', { filename: 'harbour.txt', total_size: 21 });
    await call('kb_upload_chunk', {
      upload_id: started['upload_id'],
      chunk_index: 0,
      data: Buffer.from('The harbour of a file').toString('base64'),
    });
    jobs.push(await call('kb_upload_finish', { upload_id: started['upload_id'] }));
    for (const { job_id: id } of jobs) await done(id);
    const hits = each(await call('kb_search', { query: 'harbour' }), 'results');
    assert.deepEqual(hits.map(({ origin }) => origin).toSorted(), ['file', 'web', undefined]);
    for (const { document_id: id, origin } of hits) {
      assert.equal((await call('kb_get', { document_id: id }))['origin'], origin);
    }
    const all = each(
      await call('find', { query: 'harbour crane', sources: ['kb', 'notes', 'context'], limit: 20 }),
      'results',
    );
    assert.ok(all.length >= 3);
    for (const { origin } of all) assert.match(String(origin), /^(undefined|file|web|upstream)$/);
  });

  async function done(id: unknown): Promise<void> {
    await until(async () => {
      const [job] = each(await call('kb_jobs', { job_id: id }), 'jobs');
      assert.notEqual(job?.['status'], 'failed', JSON.stringify(job));
      return job?.['status'] === 'done';
    });
  }
});
