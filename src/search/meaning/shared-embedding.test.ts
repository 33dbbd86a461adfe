import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { CarrelError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import type { EntryFilter } from '../../storage/entries/entry.ts';
import { createSqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../storage/storage.ts';
import type { VectorStore } from '../../storage/vectors/vector-store.ts';
import type { EmbeddingProvider, EmbedOptions } from '../models/embedding-provider.ts';
import { createMeaning, type Meaning } from './meaning.ts';

const leaseMs = 600_000;
const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
let storage: Storage;
const opened: Meaning<EntryFilter>[] = [];
before(async () => {
  storage = await createSqliteStorage({ path: join(folder, 'test.db') });
});
/** Each test starts without entries and vectors. */
beforeEach(async () => {
  await storage.vectors.context.drop('fake');
  await storage.entries.remove({ ids: await storage.entries.matching({}), dryRun: false });
  await storage.vectors.context.choose({ model: 'fake' });
});
afterEach(async () => {
  for (const meaning of opened.splice(0)) await meaning.close();
});
after(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

/** Another process on the database. `onTexts` gets the texts it embeds, without queries. */
function open(onTexts: (texts: readonly string[]) => Promise<void>, vectors = storage.vectors.context) {
  const provider: EmbeddingProvider = {
    name: 'fake',
    dimensions: 2,
    async embed(texts: readonly string[], { purpose }: EmbedOptions = {}) {
      if (purpose !== 'query') await onTexts(texts);
      return texts.map((text) => Float32Array.from([text.length, 1]));
    },
    close: async () => {},
  };
  const meaning = createMeaning({ vectors, provider, log: silentLogger });
  opened.push(meaning);
  return meaning;
}

async function store(...texts: string[]): Promise<number[]> {
  const entries = texts.map((text) => ({
    threadId: text,
    source: 'user' as const,
    text,
    metadata: undefined,
    tags: [],
    images: [],
    summary: undefined,
  }));
  return (await storage.entries.store({ entries })).map(({ id }) => id);
}

const signal = new AbortController().signal;

test('waits for a text that another process embeds instead of embedding it too', async () => {
  const [id] = await store('shared');
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const busy = open(async () => {
    begun.resolve();
    await gate.promise;
  });
  busy.wake();
  await begun.promise;
  // It has polled the other's lease more than once.
  let looks = 0;
  const { context } = storage.vectors;
  const searching = open(() => assert.fail('embedded twice'), {
    ...context,
    async claim(request) {
      const claimed = await context.claim(request);
      if (request.owners !== undefined) looks += 1;
      if (looks === 3) gate.resolve();
      return claimed;
    },
  });
  const answer = await searching.search({ text: 'shared', limit: 5, waitMs: 600_000, signal });
  assert.deepEqual([answer.pending, answer.matches.map((match) => match.id)], [0, [id]]);
  assert.ok(looks >= 3);
});

test('after waiting long enough for another process, reports the text as missing', async () => {
  const [id = 0] = await store('elsewhere');
  const alive = 'another process';
  await storage.vectors.context.claim({ model: 'fake', claimant: alive, leaseMs, limit: 10 });
  const meaning = open(() => assert.fail('it is leased'));
  const { pending, matches } = await meaning.search({ text: 'x', limit: 5, waitMs: 300, signal });
  assert.deepEqual([pending, matches], [1, []]);
  await meaning.close();
  // Once released, it is embedded here.
  await storage.vectors.context.release({ model: 'fake', claimant: alive });
  const able = open(async () => {});
  const found = await able.search({ text: 'x', limit: 5, waitMs: 600_000, signal });
  assert.deepEqual([found.pending, found.matches.map((match) => match.id)], [0, [id]]);
});

test('texts leased by a dead process are embedded once the lease expires', async () => {
  const texts = await store('one', 'two', 'three');
  const claimant = 'a dead process';
  await storage.vectors.context.claim({ model: 'fake', claimant, leaseMs: -1, limit: 2 });
  const meaning = open(async () => {});
  const { pending, matches } = await meaning.search({ text: 'x', limit: 5, waitMs: 600_000, signal });
  assert.equal(pending, 0);
  assert.deepEqual(matches.map((match) => match.id).sort(), texts.sort());
});

test('a failing provider and a closing process leave their texts to others', async () => {
  await store('one', 'two');
  const released = Promise.withResolvers<void>();
  const { context } = storage.vectors;
  const watched: VectorStore<EntryFilter> = {
    ...context,
    async release(request) {
      await context.release(request);
      released.resolve();
    },
  };
  const free = async () => (await context.claim({ model: 'fake', claimant: 'me', leaseMs, limit: 10 })).texts.length;
  const failing = open(() => Promise.reject(new CarrelError('unavailable', 'down')), watched);
  failing.wake();
  await released.promise;
  assert.equal(await free(), 2);
  await failing.close();
  await context.release({ model: 'fake', claimant: 'me' });

  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const closing = open(async () => {
    begun.resolve();
    await gate.promise;
    throw new CarrelError('cancelled', 'closed');
  });
  closing.wake();
  await begun.promise;
  assert.equal(await free(), 0);
  const closed = closing.close();
  gate.resolve();
  await closed;
  assert.equal(await free(), 2);
});

test('embeds awaited texts first, then the newest', async () => {
  const [oldest = 0] = await store(...Array.from({ length: 100 }, (_, place) => `text ${place}`));
  const [first, second] = [Promise.withResolvers<readonly string[]>(), Promise.withResolvers<readonly string[]>()];
  const gate = Promise.withResolvers<void>();
  const batches = [first, second];
  const meaning = open(async (texts) => {
    batches.shift()?.resolve(texts);
    await gate.promise;
  });
  meaning.wake();
  assert.ok((await first.promise).includes('text 99'));
  meaning.prefer([oldest]);
  gate.resolve();
  assert.deepEqual(await second.promise, ['text 0']);
});
