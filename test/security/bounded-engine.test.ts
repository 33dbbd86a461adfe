import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createRemoteEngine } from '../../src/engine/remote/create-remote-engine.ts';
import { type EngineClient, type Json, startEngine } from '../support/engine-client.ts';

const answerBytesMax = 65_536;
const notesCount = 6;

/** Security bar: no answer of the engine exceeds ANSWER_MAX_BYTES, and each says how to get the rest. */
describe('answers of the engine within a bound', () => {
  let engine: EngineClient;
  let longId: number;
  let shortId: number;
  const closings: (() => Promise<void> | void)[] = [];
  const sections = Array.from(
    { length: 120 },
    (_, index) => `# Section ${index}\n\n${'The heron "waits" by the pond. '.repeat(60)}`,
  );
  /** 58 tags of 200 characters, three bytes each. */
  const tagsOf = (note: number) =>
    Array.from({ length: 58 }, (_, index) => `港${note}-${index}-`.padEnd(200, '鷺')).join(',');

  before(async () => {
    const env = { ANSWER_MAX_BYTES: String(answerBytesMax), ENABLE_RERANKING: 'false' };
    engine = await startEngine({ after: (close) => void closings.push(close) }, { env });
    longId = await engine.documentIdOf(await engine.addFile('long.md', sections.join('\n\n')));
    for (let note = 0; note < notesCount; note += 1) {
      shortId = await engine.documentIdOf(await engine.addNote(`bittern ${note}`, { tags: tagsOf(note) }));
    }
  });
  after(async () => {
    for (const close of closings.reverse()) await close();
  });

  async function ask(path: string, body?: Json): Promise<Json> {
    const json = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${engine.url}${path}`, { headers: { 'content-type': 'application/json' }, ...json });
    const text = await response.text();
    assert.equal(response.status, 200, text.slice(0, 500));
    assert.ok(Buffer.byteLength(text) <= answerBytesMax, `${path}: ${Buffer.byteLength(text)} bytes`);
    return JSON.parse(text) as Json;
  }

  /** Follows `next`, and returns all answers. */
  async function pages(path: string): Promise<Json[]> {
    const found: Json[] = [];
    for (let next: unknown = ''; next !== undefined; next = found.at(-1)?.['next']) {
      found.push(await ask(`${path.split('?')[0]}${next === '' ? (path.match(/\?.*/)?.[0] ?? '') : next}`));
    }
    return found;
  }

  test('GET /documents/:id continues at first_chunk, and loses no chunk', async () => {
    const parts = await pages(`/documents/${longId}`);
    assert.ok(parts.length > 3);
    const chunks = parts.flatMap((part) => part['chunks'] as { chunk_index: number; text: string }[]);
    assert.deepEqual(
      chunks.map(({ chunk_index: index }) => index),
      Array.from({ length: Number(parts[0]?.['chunk_count']) }, (_, index) => index),
    );
    let seen = 0;
    for (const part of parts) {
      seen += (part['chunks'] as unknown[]).length;
      assert.equal(part['chunks_left'] ?? 0, chunks.length - seen);
    }
    assert.match(chunks.map(({ text }) => text).join('\n'), /# Section 0\n.*# Section 119\n/s);
  });

  test('GET /documents/:id takes first_chunk and max_chunks, and reports what they omit', async () => {
    const few = await ask(`/documents/${longId}?first_chunk=7&max_chunks=2`);
    assert.deepEqual(
      (few['chunks'] as { chunk_index: number }[]).map(({ chunk_index: index }) => index),
      [7, 8],
    );
    assert.equal(few['chunks_left'], Number(few['chunk_count']) - 9);
    assert.equal(few['next'], '?first_chunk=9&max_chunks=2');
    const none = await ask(`/documents/${longId}?max_chunks=0`);
    assert.deepEqual([none['chunks'], none['chunks_left'], none['next']], [[], none['chunk_count'], '?first_chunk=0']);
    assert.deepEqual((await ask(`/documents/${longId}?first_chunk=999999999999999`))['chunks'], []);
    const { status } = await engine.call('GET', `/documents/${longId}?first_chunk=-1`);
    assert.equal(status, 422);
  });

  test('an answer that fits is as it was: without chunks_left and next', async () => {
    const whole = await ask(`/documents/${shortId}`);
    assert.deepEqual((whole['chunks'] as { text: string }[]).length, 1);
    assert.ok(!('chunks_left' in whole) && !('next' in whole));
    assert.deepEqual(Object.keys(await ask('/documents?limit=1')), ['documents', 'total']);
    assert.deepEqual(Object.keys(await ask('/tags?after=z')), ['tags', 'next']);
    assert.deepEqual(Object.keys(await ask('/tags?limit=1')), ['tags']);
  });

  test('lists of documents, jobs and tags continue at next', async () => {
    const documents = await pages('/documents?limit=7');
    assert.ok(documents.length > 2);
    const ids = documents.flatMap((page) => (page['documents'] as { id: number }[]).map(({ id }) => id));
    assert.deepEqual(
      ids,
      Array.from({ length: notesCount + 1 }, (_, index) => notesCount + 1 - index),
    );
    const jobs = await pages('/jobs');
    assert.ok(jobs.length > 2);
    assert.equal(new Set(jobs.flatMap((page) => (page['jobs'] as { id: number }[]).map(({ id }) => id))).size, 7);
    const tags = await pages('/tags');
    assert.ok(tags.length > 2);
    const names = tags.flatMap((page) => (page['tags'] as { tag: string }[]).map(({ tag }) => tag));
    assert.equal(names.length, 58 * notesCount);
    assert.deepEqual(names, [...new Set(names)].sort());
  });

  test('a search continues at next_offset, in the same order', async () => {
    const asked = { query: 'bittern', top: 50, neighbours: 5 };
    const found: number[] = [];
    for (let offset: unknown = 0; offset !== undefined; ) {
      const answer = await ask('/search', { ...asked, offset });
      const results = answer['results'] as { document_id: number }[];
      assert.equal(answer['returned'], results.length);
      assert.equal(answer['total_matches'], notesCount);
      found.push(...results.map(({ document_id: id }) => id));
      offset = answer['next_offset'];
    }
    assert.equal(new Set(found).size, notesCount);
    assert.equal(found.length, notesCount);
  });

  test('kb in front of the engine (KB_ENGINE_URL) gets all of it', async () => {
    const remote = createRemoteEngine({ engineUrl: engine.url, timeoutMs: 60_000 });
    closings.push(() => remote.close());
    const { documents, total } = await remote.documents({ limit: 100 });
    assert.deepEqual([documents.length, total], [notesCount + 1, notesCount + 1]);
    assert.equal((await remote.documents({ limit: 4, offset: 1 })).documents.length, 4);
    assert.equal((await remote.jobs({ limit: 100 })).jobs.length, notesCount + 1);
    assert.equal((await remote.tags()).length, 58 * notesCount);
    assert.equal((await remote.search({ query: 'bittern', top: 50 })).returned, notesCount);
    const alone = await remote.documentWithoutChunks(longId);
    assert.equal('chunks' in alone, false);
    const part = await remote.document(longId, { first_chunk: 30 });
    assert.equal(part.chunks[0]?.chunk_index, 30);
    assert.equal(part.chunks_left, Number(alone.chunk_count) - 30 - part.chunks.length);
  });

  test('the record of a change omits ids if there are too many', async () => {
    const record = async (ids: number) => {
      const chosen = Array.from({ length: ids }, (_, index) => index + 1_000_000);
      const { status, json } = await engine.call('POST', '/bulk/delete', { document_ids: chosen });
      assert.equal(status, 200, JSON.stringify(json));
      return ask(`/jobs/${json['job_id']}`);
    };
    const few = (await record(1_000)) as { details: { selection: { ids: number[] } } };
    assert.equal(few.details.selection.ids.length, 1_000);
    const { details, details_left_out: isLeftOut } = await record(10_000);
    assert.deepEqual([details, isLeftOut], [{}, true]);
    assert.equal(((await ask('/jobs?limit=3'))['jobs'] as unknown[]).length, 2);
  });
});
