import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { asCaller } from '../../base/current-caller.ts';
import { CarrelError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import type { ExtractedDocument } from '../../documents/document.ts';
import type { Extractor } from '../../documents/extractor.ts';
import type { EmbeddingProvider } from '../../search/models/embedding-provider.ts';
import { createSqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../storage/storage.ts';
import type { EngineJob, JobId } from '../engine.ts';
import { engineSlice } from '../engine-slice.ts';
import { serveEngine } from '../http/serve-engine.ts';
import { createEngine } from './create-engine.ts';
import { scopedEngine } from './scoped-engine.ts';
import type { LocalEngine } from './submit.ts';

/** Returns the bytes unchanged, after failing with these errors. */
function failing(...errors: Error[]): Extractor {
  return {
    async extract({ bytes }): Promise<ExtractedDocument> {
      const error = errors.shift();
      if (error !== undefined) throw error;
      return {
        title: null,
        text: Buffer.from(bytes).toString(),
        kind: 'text',
        marks: [],
        language: null,
        byline: null,
        published: null,
      };
    },
    close: async () => {},
  };
}

async function submit(engine: LocalEngine, text: string, tags: string[] = []): Promise<JobId> {
  const outcome = await engine.submit({ filename: 'file.txt', content: bytesOf(text), tags });
  assert.ok(outcome.accepted);
  return outcome.job_id;
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function ended(engine: LocalEngine, id: JobId): Promise<EngineJob> {
  for (;;) {
    const job = await engine.job(id);
    if (job.status !== 'queued' && job.status !== 'processing') return job;
    await delay(20);
  }
}

describe('the local engine', () => {
  // One database for all tests, because opening one takes a third of a second of CPU time.
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  let storage: Storage;
  before(async () => {
    storage = await createSqliteStorage({ path: join(folder, 'test.db') });
  });
  after(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  function open(
    t: TestContext,
    extractor: Extractor,
    changed: Partial<Record<string, number>> = {},
    embeddings?: EmbeddingProvider,
  ) {
    const defaults = Object.entries(engineSlice.fields).map(([name, field]) => [name, changed[name] ?? field.default]);
    const engine = createEngine(Object.fromEntries(defaults), { storage, extractor, embeddings, log: silentLogger });
    t.after(() => engine.close());
    return engine;
  }

  test('retries temporary failures and reports them meanwhile', async (t) => {
    const reader = failing();
    let failures = 0;
    let isSeen = false;
    const engine = open(t, {
      ...reader,
      async extract(file, ...others) {
        if (isSeen) return reader.extract(file, ...others);
        failures += 1;
        throw new CarrelError('unavailable', 'The reader did not start.');
      },
    });
    const id = await submit(engine, 'patience');
    let waiting = await engine.job(id);
    while (waiting.error === null) {
      await delay(5);
      waiting = await engine.job(id);
    }
    isSeen = true;
    assert.deepEqual([waiting.status, waiting.error], ['queued', 'The reader did not start. It will be retried.']);
    const done = await ended(engine, id);
    assert.deepEqual([done.status, done.error, done['attempts']], ['done', null, failures + 1]);
  });

  test('a faulty file fails permanently', async (t) => {
    const engine = open(t, failing(new CarrelError('encrypted_document', 'It has a password.')));
    const failed = await ended(engine, await submit(engine, 'secret'));
    assert.deepEqual([failed.status, failed.error, failed['attempts']], ['failed', 'It has a password.', 1]);
  });

  test('an internal error has an incident id and no detail', async (t) => {
    const engine = open(t, failing(...[1, 2, 3].map(() => new TypeError('x is not a function'))));
    const failed = await ended(engine, await submit(engine, 'unlucky'));
    assert.deepEqual([failed.status, failed['attempts']], ['failed', 3]);
    assert.match(String(failed.error), /incident [0-9a-f-]{36}/);
    assert.doesNotMatch(String(failed.error), /function/);
  });

  test('rejects a wrong name, tag or type before any byte is read', async (t) => {
    const engine = open(t, failing());
    const unread = {
      async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
        yield assert.fail('the bytes were read');
      },
    };
    for (const wrong of [{ filename: '..' }, { filename: 'a', tags: ['a,b'] }, { filename: 'a', doc_type: 'a b' }]) {
      await assert.rejects(engine.submit({ content: unread, ...wrong }), { code: 'invalid_arguments' });
    }
  });

  test('contract §6: health is `starting` until the engine is ready, and nothing else answers', async (t) => {
    const service = await serveEngine({
      host: '127.0.0.1',
      port: 0,
      path: '/api/v1',
      allowedHosts: [],
      allowedOrigins: [],
      tokens: {},
      answerBytesMax: 4 * 1024 * 1024,
      fileBytesMax: 1000,
      readOnly: false,
      log: silentLogger,
    });
    t.after(() => service.close(0));
    const ask = async (path: string) => {
      const response = await fetch(`${service.url}${path}`);
      return [response.status, await response.json()];
    };
    assert.deepEqual(await ask('/health'), [503, { status: 'starting' }]);
    assert.equal((await ask('/status'))[0], 503);
    service.ready(open(t, failing()));
    assert.deepEqual(await ask('/health'), [200, { status: 'healthy' }]);
    assert.equal((await ask('/status'))[0], 200);
  });

  test('003 search: without word matches, hits are ordered by distance and the threshold applies to relevance', async (t) => {
    const angles: Record<string, number> = { cat: 0.3, dog: 0.9, feline: 0 };
    const embeddings: EmbeddingProvider = {
      name: 'angles',
      dimensions: 2,
      device: undefined,
      embed: async (texts) =>
        texts.map((text) => {
          const angle = Object.entries(angles).find(([word]) => text.includes(word))?.[1] ?? 1.5;
          return Float32Array.of(Math.cos(angle), Math.sin(angle));
        }),
      close: async () => {},
    };
    const engine = open(t, failing(), {}, embeddings);
    for (const text of ['a cat', 'a dog']) await ended(engine, await submit(engine, text, ['animals']));
    const tags = ['animals'];
    const scores = async (vecOnly: boolean) =>
      (await engine.search({ query: 'feline', tags, vec_only: vecOnly })).results.map(({ text, score }) => ({
        text,
        score,
      }));
    const found = await scores(false);
    assert.deepEqual(found, await scores(true));
    const [cat, dog] = found;
    assert.deepEqual([cat?.text, dog?.text], ['a cat', 'a dog']);
    // This model was not measured, so its cosines say nothing about relevance.
    assert.ok(cat && dog && cat.score === dog.score && cat.score < 0.3, JSON.stringify(found));
    const near = await engine.search({ query: 'feline', tags, threshold: cat.score });
    assert.deepEqual([near.returned, near.total_matches], [2, 2]);
    assert.equal((await engine.search({ query: 'feline', tags, threshold: 0.99 })).returned, 0);
  });

  test('rereads a truncated file into the same document once the limit is higher', async () => {
    const text = 'word '.repeat(4_000);
    const withBound = async <T>(textCharsMax: number, work: (engine: LocalEngine) => Promise<T>): Promise<T> => {
      const defaults = Object.entries(engineSlice.fields).map(([name, field]) => [name, field.default]);
      const extractor: Extractor = {
        async extract(source) {
          const read = await failing().extract(source, { signal: new AbortController().signal });
          const whole = read.text;
          if (whole.length <= textCharsMax) return read;
          const truncated = { reason: 'characters', read: textCharsMax, of: whole.length, unit: 'characters' } as const;
          return { ...read, text: whole.slice(0, textCharsMax), truncated };
        },
        close: async () => {},
      };
      const settings = { ...Object.fromEntries(defaults), textCharsMax };
      const engine = createEngine(settings, { storage, extractor, embeddings: undefined, log: silentLogger });
      try {
        return await work(engine);
      } finally {
        await engine.close();
      }
    };
    const add = (engine: LocalEngine) => engine.submit({ filename: 'long.txt', content: bytesOf(text), tags: ['x'] });

    const id = await withBound(10_000, async (engine) => {
      const { document_id: made, truncated } = await ended(engine, await submit(engine, text));
      assert.equal(truncated?.read, 10_000);
      assert.equal((await add(engine)).accepted, false, 'the same limit would truncate the same');
      return made ?? 0;
    });
    await withBound(50_000, async (engine) => {
      const again = await add(engine);
      assert.ok(again.accepted);
      const job = await ended(engine, again.job_id);
      assert.deepEqual([job.status, job.document_id, job.truncated], ['done', id, undefined]);
      const { chunks, truncated, metadata } = await engine.document(id);
      assert.deepEqual([truncated, metadata], [undefined, { kind: 'text' }]);
      assert.ok(chunks.map((chunk) => chunk.text).join(' ').length >= text.trim().length);
      assert.equal((await add(engine)).accepted, false);
    });
  });

  test('a file may replace a document, and a document may move', async (t) => {
    const engine = open(t, failing());
    const { document_id: id } = await ended(engine, await submit(engine, 'the first text'));
    assert.ok(id !== null);
    const submission = {
      filename: 'file.txt',
      content: bytesOf('the second text'),
      source_path: '/a/file.txt',
      replaces: id,
    };
    const outcome = await engine.submit(submission);
    assert.ok(outcome.accepted);
    assert.equal((await ended(engine, outcome.job_id)).document_id, id);
    assert.deepEqual(
      (await engine.document(id)).chunks.map(({ text }) => text),
      ['the second text'],
    );
    const moved = await engine.moveDocument(id, '/b/other.txt');
    assert.deepEqual([moved.source_path, moved['filename'], moved.title], ['/b/other.txt', 'other.txt', 'other.txt']);
    const again = await engine.submit({ filename: 'upload.txt', content: bytesOf('the third text'), replaces: id });
    assert.ok(again.accepted);
    await ended(engine, again.job_id);
    assert.equal(
      (await engine.document(id)).source_path,
      '/b/other.txt',
      "a file without a path keeps the document's path",
    );
    await assert.rejects(engine.moveDocument(99, '/b'), { code: 'document_not_found' });
    await assert.rejects(engine.moveDocument(id, ' '), { code: 'invalid_arguments' });
    await assert.rejects(engine.submit({ note: 'x', replaces: 1.5 }), { code: 'invalid_arguments' });
  });

  test('checks a restricted caller without reading chunks', async (t) => {
    const engine = open(t, failing());
    const note = { note: 'a heron by the pond', tags: ['collection:birds'] };
    const added = await engine.submit(note);
    assert.ok(added.accepted);
    const { document_id: id } = await ended(engine, added.job_id);
    assert.ok(id !== null);
    const unread = { ...engine, document: () => assert.fail('its chunks were read') };
    const [birds, fish] = ['birds', 'fish'].map((name) => scopedEngine(unread, [name]));
    assert.ok(birds && fish);
    await assert.rejects(fish.file(id), { code: 'document_not_found' });
    await assert.rejects(fish.deleteDocument(id), { code: 'document_not_found' });
    assert.equal((await birds.file(id)).size, note.note.length);
    assert.deepEqual((await birds.changeTags(id, { add: ['seen'] })).tags, ['collection:birds', 'seen']);
    assert.deepEqual((await birds.documentWithoutChunks(id)).tags, ['collection:birds', 'seen']);
    await assert.rejects(birds.bulkTags({ document_ids: [id], force: true }, { replaces: 'collections', add: ['x'] }), {
      code: 'outside_rights',
    });
    await engine.changeTags(id, { add: ['collection:other'] });
    const replaced = { replaces: 'non_collections', add: ['read'] } as const;
    assert.equal((await birds.bulkTags({ document_ids: [id], force: true }, replaced)).changed, 1);
    assert.deepEqual((await engine.documentWithoutChunks(id)).tags, ['collection:birds', 'collection:other', 'read']);
    await birds.updateNote(id, 'two herons');
    await birds.deleteDocument(id);
  });

  test("many files of one caller do not delay another caller's file", async (t) => {
    const reader = failing();
    const read: string[] = [];
    const isAllSubmitted = Promise.withResolvers<void>();
    const engine = open(
      t,
      {
        ...reader,
        async extract(file, ...others) {
          read.push(file.bytes.subarray(0, 2).toString());
          await isAllSubmitted.promise;
          return reader.extract(file, ...others);
        },
      },
      { workers: 1 },
    );
    const submitted: JobId[] = [];
    for (const name of ['a1', 'a2', 'a3', 'b1']) {
      const text = name.padEnd(300 * 1024, ' and more words');
      submitted.push(await asCaller(`caller ${name.slice(0, 1)}`, () => submit(engine, text)));
    }
    isAllSubmitted.resolve();
    for (const id of submitted) await ended(engine, id);
    assert.deepEqual(read, ['a1', 'b1', 'a2', 'a3']);
  });
});
