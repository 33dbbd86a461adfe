import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type EngineClient, formOf, type Json, startEngine } from '../../support/engine-client.ts';

const guide = `# Pump guide

Install the pump before the first frost.

## Maintenance

Grease the bearing every spring, and replace the seal when it leaks.
`;

describe('the API of the engine (contract §6)', () => {
  let engine: EngineClient;
  let guideId: number;
  let noteId: number;
  const closings: (() => Promise<void> | void)[] = [];
  before(async () => {
    engine = await startEngine({ after: (close) => void closings.push(close) });
    guideId = await engine.documentIdOf(
      await engine.addFile('pump.md', guide, { tags: 'manual, collection:documents', source_path: 'docs/pump.md' }),
    );
    noteId = await engine.documentIdOf(await engine.addNote('Prefers short answers', { tags: 'collection:memory' }));
  });
  after(async () => {
    for (const close of closings.reverse()) await close();
  });

  test('exactly one line on stderr says where it listens (contract §1)', () => {
    assert.equal(engine.program.stderrText(), `carrel: listening on ${engine.url}\n`);
    assert.match(engine.url, /^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
  });

  test('GET /health', async () => {
    assert.deepEqual(await engine.get('/health'), { status: 'healthy' });
    assert.equal((await fetch(`${engine.program.origin}/health`)).status, 200);
  });

  test('HEAD is answered like GET, without the body (RFC 9110 §9.1)', async () => {
    for (const path of ['/health', '/status', `/documents/${guideId}`, `/documents/${guideId}/file`]) {
      const [asked, probed] = [await fetch(engine.url + path), await fetch(engine.url + path, { method: 'HEAD' })];
      assert.deepEqual([probed.status, await probed.text()], [200, ''], path);
      for (const name of ['content-type', 'content-length', 'content-disposition']) {
        assert.equal(probed.headers.get(name), asked.headers.get(name), `${path} ${name}`);
      }
      await asked.body?.cancel();
    }
  });

  test('GET /status', async () => {
    const status = await engine.get('/status');
    assert.deepEqual(Object.keys(status), [
      ...['version', 'model', 'device', 'documents', 'chunks', 'collections', 'unembedded', 'queue', 'storage'],
    ]);
    assert.deepEqual([status['documents'], status['collections'], status['model']], [2, 2, null]);
    assert.deepEqual(status['queue'], { queued: 0, processing: 0, done: 2, failed: 0 });
  });

  test('POST /jobs answers 202 with the job; the file becomes a document', async () => {
    const { status, json } = await engine.submit(formOf({ title: 'Ode' }, 'ode.txt', 'O wild west wind'));
    assert.equal(status, 202);
    assert.deepEqual(Object.keys(json), ['job_id', 'status', 'filename']);
    assert.deepEqual([json['status'], json['filename']], ['queued', 'ode.txt']);
    const job = await engine.waitForJob(Number(json['job_id']));
    assert.deepEqual([job['status'], job['error'], job['chunk_count'], job['filename']], ['done', null, 1, 'ode.txt']);
    const document = await engine.get(`/documents/${job['document_id']}`);
    assert.deepEqual([document['title'], document['doc_type'], document['source_path']], ['Ode', 'text', 'ode.txt']);
    await engine.call('DELETE', `/documents/${document['id']}`);
  });

  test('accepts fields after the file, as curl sends them', async () => {
    const form = formOf({ title: 'Late title', tags: '["late", "fields"]' }, 'late.txt', 'late fields of a form');
    const { json } = await engine.submit(form);
    const id = await engine.documentIdOf(Number(json['job_id']));
    const document = await engine.get(`/documents/${id}`);
    assert.deepEqual([document['title'], document['tags']], ['Late title', ['late', 'fields']]);
    await engine.call('DELETE', `/documents/${id}`);
  });

  test('409 for known bytes: stored or queued', async () => {
    const { status, json } = await engine.submit(formOf({}, 'other-name.md', guide));
    assert.equal(status, 409);
    assert.deepEqual(
      [json['error'], json['document_id'], json['title'], 'job_id' in json],
      ['duplicate', guideId, 'Pump guide', false],
    );
    const note = await engine.submit(formOf({ note: 'Prefers short answers' }));
    assert.deepEqual([note.status, note.json['document_id']], [409, noteId]);
  });

  test('the same bytes sent many times at once are one job', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => engine.submit(formOf({}, 'race.txt', 'sent eight times at once'))),
    );
    const accepted = answers.filter(({ status }) => status === 202);
    assert.equal(accepted.length, 1);
    const job = Number(accepted[0]?.json['job_id']);
    const id = await engine.documentIdOf(job);
    for (const { status, json } of answers) {
      if (status === 202) continue;
      assert.equal(status, 409);
      assert.ok(json['job_id'] === job || json['document_id'] === id, JSON.stringify(json));
    }
    await engine.call('DELETE', `/documents/${id}`);
  });

  test('GET /documents/:id has the chunks with page, headings and lines', async () => {
    const document = await engine.get(`/documents/${guideId}`);
    assert.equal(document['title'], 'Pump guide');
    assert.deepEqual(document['tags'], ['manual', 'collection:documents']);
    assert.equal(document['content_hash'], createHash('sha256').update(guide).digest('hex'));
    assert.deepEqual([document['has_file'], document['updated_at']], [true, null]);
    assert.match(String(document['created_at']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const chunks = document['chunks'] as Json[];
    assert.equal(document['chunk_count'], chunks.length);
    assert.deepEqual(
      chunks.map(({ chunk_index: index, chunk_metadata: metadata }) => [index, metadata]),
      [
        [0, { section_header: 'Pump guide', line_start: 1, line_end: 3 }],
        [1, { section_header: 'Pump guide > Maintenance', line_start: 5, line_end: 7 }],
      ],
    );
  });

  test('GET /documents lists by type, tags and source_path, in pages, the last changed first', async () => {
    const all = await engine.get('/documents');
    assert.equal(all['total'], 2);
    assert.deepEqual(idsIn(all), [noteId, guideId]);
    assert.deepEqual(idsIn(await engine.get('/documents?type=markdown')), [guideId]);
    assert.deepEqual(idsIn(await engine.get('/documents?tags=collection:documents,manual')), [guideId]);
    assert.deepEqual(idsIn(await engine.get('/documents?tags=manual&tags=absent')), []);
    assert.deepEqual(idsIn(await engine.get('/documents?source_path=docs/pump.md')), [guideId]);
    const second = await engine.get('/documents?limit=1&offset=1');
    assert.deepEqual([idsIn(second), second['total']], [[guideId], 2]);
  });

  test('GET /documents/:id/file returns the same bytes, under a safe name', async () => {
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, ...Buffer.from('bytes\r\nas they came'), 0x0a]);
    const job = await engine.addFile('Ünïcode "quoted" name.txt', bytes);
    const response = await fetch(`${engine.url}/documents/${await engine.documentIdOf(job)}/file`);
    assert.equal(response.status, 200);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), bytes);
    const disposition = response.headers.get('content-disposition') ?? '';
    assert.match(disposition, /^attachment; filename="[ -~]+"; filename\*=UTF-8''[\w.%-]+$/);
    assert.match(disposition, /%C3%9Cn%C3%AFcode%20%22quoted%22%20name\.txt$/);
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff');
    const note = await fetch(`${engine.url}/documents/${noteId}/file`);
    assert.equal(await note.text(), 'Prefers short answers');
    await engine.call('DELETE', `/documents/${await engine.documentIdOf(job)}`);
  });

  test('POST /search: every hit has the fields of the contract, its document and its reason', async () => {
    const answer = await engine.search({ query: 'bearing grease', top: 5 });
    assert.deepEqual(
      [answer['query'], answer.total_matches, answer.returned, answer.results.length],
      ['bearing grease', 1, 1, 1],
    );
    const [hit = {}] = answer.results;
    assert.deepEqual(Object.keys(hit), [
      ...[
        'document_id',
        'chunk_id',
        'score',
        'relevance',
        'text',
        'chunk_index',
        'chunk_metadata',
        'title',
        'doc_type',
      ],
      ...['source_path', 'content_hash', 'created_at', 'tags', 'why'],
    ]);
    assert.deepEqual(
      [hit['document_id'], hit['chunk_index'], hit['title'], hit['doc_type'], hit['source_path']],
      [guideId, 1, 'Pump guide', 'markdown', 'docs/pump.md'],
    );
    const why = hit['why'] as { words: { rank: number; terms: { term: string; share: number }[] } };
    assert.deepEqual([why.words.rank, why.words.terms.map(({ term }) => term).sort()], [1, ['bear', 'greas']]);
  });

  test('POST /search: filters, threshold, modes and neighbours', async () => {
    const found = async (body: Json) =>
      (await engine.search(body)).results.map(({ document_id: id, chunk_index: index }) => `${id}:${index}`);
    assert.deepEqual(await found({ query: 'pump', tags: ['manual', 'collection:documents'] }), [
      ...[`${guideId}:0`, `${guideId}:1`],
    ]);
    assert.deepEqual(await found({ query: 'pump', tags: ['manual', 'collection:memory'] }), []);
    assert.deepEqual(await found({ query: 'pump short', doc_type: 'note' }), [`${noteId}:0`]);
    assert.deepEqual(await found({ query: 'pump', threshold: 0.99 }), []);
    assert.equal((await engine.search({ query: 'pump', threshold: 0.99 })).total_matches, 0);
    assert.deepEqual(await found({ query: 'pump', top: 1 }), [`${guideId}:0`]);
    assert.equal((await engine.search({ query: 'pump', top: 1 })).total_matches, 2);
    assert.deepEqual(await found({ query: 'pump', fts_only: true, vec_only: null }), [`${guideId}:0`, `${guideId}:1`]);
    assert.deepEqual(await found({ query: '!!! "" (' }), [], 'no syntax of a caller is ever an error');
    const [hit = {}] = (await engine.search({ query: 'frost', neighbours: 1 })).results;
    assert.deepEqual(
      (hit['neighbours'] as Json[]).map(({ chunk_index: index }) => index),
      [1],
    );
    const degraded = await engine.search({ query: 'pump', vec_only: true });
    assert.match(String(degraded['degraded']), /EMBEDDING_PROVIDER/);
  });

  test('PUT /documents/:id/tags removes, then adds; searches follow', async () => {
    const { status, json } = await engine.call('PUT', `/documents/${noteId}/tags`, {
      remove: ['collection:memory'],
      add: ['collection:work', ' spaced '],
    });
    assert.deepEqual([status, json['tags']], [200, ['collection:work', 'spaced']]);
    assert.notEqual(json['updated_at'], null);
    assert.equal((await engine.search({ query: 'answers', tags: ['collection:memory'] })).returned, 0);
    assert.equal((await engine.search({ query: 'answers', tags: ['collection:work'] })).returned, 1);
    const tags = (await engine.get('/tags'))['tags'] as Json[];
    assert.deepEqual(
      tags.find(({ tag }) => tag === 'collection:work'),
      { tag: 'collection:work', count: 1 },
    );
  });

  test('003 Update note tool: PATCH /notes/:id keeps id, date and tags; 404 and 422 if it is not a note', async () => {
    const before = await engine.get(`/documents/${noteId}`);
    const { status, json } = await engine.call('PATCH', `/notes/${noteId}`, { text: 'Prefers bullet points' });
    assert.equal(status, 200);
    assert.deepEqual(
      [json['id'], json['created_at'], json['tags'], json['title']],
      [noteId, before['created_at'], before['tags'], 'Prefers bullet points'],
    );
    assert.notEqual(json['content_hash'], before['content_hash']);
    assert.equal((await engine.search({ query: 'short' })).returned, 0);
    assert.equal((await engine.search({ query: 'bullet' })).returned, 1);
    const unknown = await engine.call('PATCH', '/notes/99999', { text: 'x' });
    assert.deepEqual([unknown.status, unknown.json['error']], [404, 'document_not_found']);
    const file = await engine.call('PATCH', `/notes/${guideId}`, { text: 'x' });
    assert.deepEqual([file.status, file.json['error']], [422, 'not_a_note']);
    for (const text of [' ', '\u200b']) {
      const empty = await engine.call('PATCH', `/notes/${noteId}`, { text });
      assert.deepEqual([empty.status, empty.json['error']], [422, 'invalid_arguments']);
    }
  });

  test('every change is a job in the list, newest first, and can be asked for by status', async () => {
    const { jobs, total } = (await engine.get('/jobs?limit=2')) as { jobs: Json[]; total: number };
    assert.equal(jobs.length, 2);
    assert.ok(total > 4);
    assert.deepEqual(
      jobs.map((job) => [job['kind'], job['status'], job['document_id']]),
      [
        ['note', 'done', noteId],
        ['tags', 'done', noteId],
      ],
    );
    for (const key of ['id', 'filename', 'status', 'progress', 'error', 'document_id', 'chunk_count', 'created_at']) {
      assert.ok(key in (jobs[0] ?? {}), key);
    }
    assert.equal((await engine.get('/jobs?status=failed'))['total'], 0);
    assert.equal((await engine.call('GET', '/jobs?status=lost')).status, 422);
  });

  test('contract §6: a note keeps its line breaks despite form encoding', async () => {
    const id = await engine.documentIdOf(await engine.addNote('first line\nsecond line'));
    const file = await fetch(`${engine.url}/documents/${id}/file`);
    assert.equal(await file.text(), 'first line\nsecond line');
    assert.equal((await engine.call('DELETE', `/documents/${id}`)).status, 200);
  });

  test('a finished job cannot be cancelled, as its status shows', async () => {
    const job = await engine.addNote('to be cancelled too late');
    const id = await engine.documentIdOf(job);
    const { status, json } = await engine.call('DELETE', `/jobs/${job}`);
    assert.deepEqual([status, json['status']], [200, 'done']);
    await engine.call('DELETE', `/documents/${id}`);
  });

  test('DELETE /documents/:id removes it everywhere; POST …/restore restores it from its bytes, once', async () => {
    const id = await engine.documentIdOf(await engine.addFile('gone.txt', 'soon to be gone'));
    const { content_hash: hash } = await engine.get(`/documents/${id}`);
    const path = join(engine.program.dataDir, 'documents', String(hash));
    assert.ok(existsSync(path));
    const { status, json } = await engine.call('DELETE', `/documents/${id}`);
    assert.deepEqual([status, json], [200, { status: 'deleted', document_id: id, title: 'gone.txt' }]);
    assert.equal((await engine.call('GET', `/documents/${id}`)).status, 404);
    assert.equal((await engine.search({ query: 'soon gone' })).returned, 0);
    assert.ok(existsSync(path));
    const restoring = await engine.call('POST', `/documents/${id}/restore`);
    assert.deepEqual([restoring.status, restoring.json['title']], [200, 'gone.txt']);
    assert.equal(await engine.documentIdOf(Number(restoring.json['job_id'])), id);
    assert.equal((await engine.search({ query: 'soon gone' })).returned, 1);
    const again = await engine.call('POST', `/documents/${id}/restore`);
    assert.deepEqual([again.status, again.json['error']], [404, 'document_not_found']);
    await engine.call('DELETE', `/documents/${id}`);
    const twin = await engine.documentIdOf(await engine.addFile('gone.txt', 'soon to be gone'));
    const taken = await engine.call('POST', `/documents/${id}/restore`);
    assert.deepEqual([taken.status, taken.json['document_id']], [409, twin]);
    await engine.call('DELETE', `/documents/${twin}`);
  });

  test('bulk operations: the selection must name something, and no more than the safety percentage', async () => {
    const ids: number[] = [];
    for (const name of ['one', 'two', 'three']) {
      ids.push(await engine.documentIdOf(await engine.addNote(`bulk ${name}`, { tags: `bulk,${name}` })));
    }
    const none = await engine.call('POST', '/bulk/delete', { tags: [] });
    assert.deepEqual([none.status, none.json['error']], [400, 'empty_selection']);
    const many = await engine.call('POST', '/bulk/delete', { from_id: 1 });
    assert.deepEqual(
      [many.status, many.json['error'], many.json['matched'], many.json['total'], many.json['percent']],
      [409, 'safety_threshold_exceeded', 5, 5, 100],
    );
    assert.match(String(many.json['message']), /5 of 5/);
    const tagged = await engine.call('POST', '/bulk/tags', { tags: ['bulk'], add: ['x'], remove: ['two'] });
    assert.deepEqual([tagged.status, tagged.json['matched'], tagged.json['changed']], [200, 3, 3]);
    assert.deepEqual((await engine.get(`/documents/${ids[1]}`))['tags'], ['bulk', 'x']);
    const replaced = { document_ids: [ids[1]], replaces: 'non_collections', add: ['bulk', 'x', 'collection:y'] };
    assert.equal((await engine.call('POST', '/bulk/replace-tags', replaced)).status, 200);
    const moved = { document_ids: [ids[1]], replaces: 'collections', add: ['collection:z'] };
    assert.equal((await engine.call('POST', '/bulk/replace-tags', moved)).json['changed'], 1);
    assert.deepEqual((await engine.get(`/documents/${ids[1]}`))['tags'], ['bulk', 'x', 'collection:z']);
    assert.equal((await engine.call('POST', '/bulk/replace-tags', { ...moved, replaces: 'all' })).status, 422);
    const set = await engine.call('POST', '/bulk/set-tags', { document_ids: [ids[0]], tags: ['only'] });
    assert.deepEqual([set.status, set.json['changed']], [200, 1]);
    assert.deepEqual((await engine.get(`/documents/${ids[0]}`))['tags'], ['only']);
    const both = await engine.call('POST', '/bulk/set-tags', { tags: ['bulk', 'three'], set_tags: ['third'] });
    assert.deepEqual([both.status, both.json['matched']], [200, 1]);
    assert.deepEqual((await engine.get(`/documents/${ids[2]}`))['tags'], ['third']);
    const deleted = await engine.call('POST', '/bulk/delete', { from_id: ids[0], to_id: ids[2] });
    assert.deepEqual([deleted.status, deleted.json['changed']], [200, 3]);
    const audit = await engine.get(`/jobs/${deleted.json['job_id']}`);
    assert.deepEqual([audit['kind'], audit['status']], ['bulk_delete', 'done']);
    const forced = await engine.call('POST', '/bulk/tags', { from_id: 1, force: true, add: ['all'] });
    assert.deepEqual([forced.status, forced.json['changed']], [200, 2]);
  });
});

function idsIn(page: Json): unknown[] {
  return (page['documents'] as Json[]).map(({ id }) => id);
}
