import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { CarrelError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import type { EntryFilter } from '../../storage/entries/entry.ts';
import { createSqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../storage/storage.ts';
import { type EmbeddingProvider, normalised } from '../models/embedding-provider.ts';
import { createMeaning, type Meaning } from './meaning.ts';

type EntryMeaning = Meaning<EntryFilter>;

/** Vectors that count letters: a text is nearest to itself. */
function letters(text: string): Float32Array {
  const vector = new Float32Array(32);
  for (const character of text.toLowerCase()) {
    const place = character.charCodeAt(0) % 32;
    vector[place] = (vector[place] ?? 0) + 1;
  }
  return normalised(vector);
}

interface Fake extends EmbeddingProvider {
  isDown: boolean;
}

function fakeProvider(): Fake {
  return {
    name: 'fake',
    dimensions: 32,
    isDown: false,
    async embed(texts) {
      if (this.isDown) throw new CarrelError('unavailable', 'down');
      if (texts.some((text) => text.includes('poison')))
        throw new CarrelError('unavailable', 'too long for the server');
      return texts.map(letters);
    },
    close: async () => {},
  };
}

const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
let storage: Storage;
const opened: EntryMeaning[] = [];
before(async () => {
  storage = await createSqliteStorage({ path: join(folder, 'test.db') });
});
// Otherwise, earlier instances would embed a test's texts.
beforeEach(closeOpened);
after(async () => {
  await closeOpened();
  await storage.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function open(provider: EmbeddingProvider, vectors = storage.vectors.context): EntryMeaning {
  const meaning = createMeaning({ vectors, provider, log: silentLogger });
  opened.push(meaning);
  return meaning;
}

async function closeOpened(): Promise<void> {
  for (const meaning of opened.splice(0)) await meaning.close();
}

async function store(text: string): Promise<number> {
  const entry = {
    threadId: text,
    source: 'user' as const,
    text,
    metadata: undefined,
    tags: [],
    images: [],
    summary: undefined,
  };
  const [outcome] = await storage.entries.store({ entries: [entry] });
  return outcome?.id ?? 0;
}

const search = (meaning: EntryMeaning, text: string, allowed?: readonly number[]) =>
  meaning.search({ text, limit: 10, allowed, signal: new AbortController().signal });
const ids = async (...parameters: Parameters<typeof search>) =>
  (await complete(...parameters)).matches.map(({ id }) => id);

/** A search waits for new texts only briefly; a busy machine may need longer. */
async function complete(...parameters: Parameters<typeof search>) {
  for (;;) {
    const answer = await search(...parameters);
    if (answer.pending === 0) return answer;
  }
}

test('contract §3: embeds what was written during an outage of the provider', async () => {
  const provider = fakeProvider();
  const meaning = open(provider);
  provider.isDown = true;
  const id = await store('aaa bbb');
  meaning.wake();
  await assert.rejects(search(meaning, 'aaa bbb'), { code: 'unavailable' });
  provider.isDown = false;
  // The background retries by itself; a search waits for it.
  while ((await search(meaning, 'aaa bbb')).pending > 0);
  assert.deepEqual(await ids(meaning, 'aaa bbb'), [id]);
  assert.equal(meaning.available, true);
});

test('a text that cannot be embedded does not block others', async () => {
  const meaning = open(fakeProvider());
  const poison = await store('poison ccc');
  const good = await store('ccc ddd');
  const { matches } = await complete(meaning, 'ccc ddd');
  assert.equal(matches[0]?.id, good);
  assert.ok(!matches.some(({ id }) => id === poison));
});

test('ranks by nearness, applies filters and forgets changed or removed texts', async () => {
  const [one, two] = [open(fakeProvider()), open(fakeProvider())];
  const [a, b] = [await store('xyz xyz'), await store('xyz qqq')];
  const { matches } = await complete(one, 'xyz xyz');
  assert.deepEqual([matches[0]?.id, matches[1]?.id], [a, b]);
  assert.ok((matches[0]?.cosine ?? 0) > (matches[1]?.cosine ?? 9));
  assert.deepEqual(await ids(one, 'xyz xyz', [b]), [b]);
  assert.equal((await ids(two, 'xyz xyz'))[0], a);
  await storage.entries.remove({ ids: [a], dryRun: false });
  assert.equal((await ids(two, 'xyz xyz'))[0], b);
  await storage.entries.update({ updates: [{ id: b, text: '1234567' }], allOrNothing: true });
  assert.equal((await ids(one, '1234567'))[0], b);
  const later = await store('jjj kkk');
  assert.equal((await ids(two, 'jjj kkk'))[0], later);
  assert.equal((await ids(one, 'jjj kkk'))[0], later);
});

test('a search prioritises its texts and reports how many are missing', async (t) => {
  const provider = fakeProvider();
  const embedded: string[] = [];
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  provider.embed = async (texts, { purpose } = {}) => {
    if (purpose !== 'query') {
      embedded.push(...texts);
      if (texts.some((text) => text.startsWith('slow'))) await gate.promise;
    }
    return texts.map(letters);
  };
  const meaning = open(provider);
  await complete(meaning, 'everything else');
  // Two and a half batches, newest first: waiting for the oldest must not mean waiting for all.
  const id = await store('mine');
  for (let place = 0; place < 80; place += 1) await store(`slow ${place}`);
  const filter = { threadId: 'mine' };
  meaning.wake();
  const signal = new AbortController().signal;
  const early = await meaning.search({ text: 'mine', limit: 5, filter, waitMs: 0, signal });
  assert.deepEqual([early.pending, early.matches], [1, []]);
  const waiting = meaning.search({ text: 'mine', limit: 5, filter, waitMs: 60_000, signal });
  gate.resolve();
  const { matches, pending } = await waiting;
  assert.deepEqual([pending, matches.map((match) => match.id)], [0, [id]]);
  const before = embedded.slice(0, embedded.indexOf('mine'));
  assert.equal(before.includes('slow 10'), false, 'it was embedded before newer texts');
});

test('with too many texts, a search waits for the newest and reports how many are missing', async (t) => {
  const provider = fakeProvider();
  const over = Promise.withResolvers<void>();
  t.after(() => over.resolve());
  let batches = 0;
  provider.embed = async (texts, { purpose } = {}) => {
    if (purpose !== 'query') batches += 1;
    // Long enough for the test to see a waiting search, short enough that it does not give up.
    if (batches > 1) await Promise.race([over.promise, setTimeout(30_000, undefined, { ref: false })]);
    return texts.map(letters);
  };
  await complete(open(fakeProvider()), 'everything else');
  await closeOpened();
  for (let place = 0; place < 70; place += 1) await store(`one of many ${place}`);
  const last = await store('the last');
  const meaning = createMeaning({
    vectors: storage.vectors.context,
    provider,
    log: silentLogger,
    waitForAllMax: 50,
    waitForNewest: 5,
  });
  opened.push(meaning);
  const signal = new AbortController().signal;
  const { matches, pending } = await meaning.search({ text: 'the last', limit: 1, waitMs: 60_000, signal });
  over.resolve();
  assert.ok(pending >= 70 - 64, `${pending} missing`);
  assert.equal(matches[0]?.id, last);
  await complete(meaning, 'everything else');
});

test('finds what was embedded during the search', async () => {
  const { context } = storage.vectors;
  const meaning = open(fakeProvider(), {
    ...context,
    async unembedded(request, options) {
      while ((await context.state(request)).pending > 0);
      return context.unembedded(request, options);
    },
  });
  await complete(meaning, 'everything else');
  const id = await store('just in time');
  const signal = new AbortController().signal;
  const { matches, pending } = await meaning.search({ text: 'just in time', limit: 1, signal });
  assert.deepEqual([pending, matches[0]?.id], [0, id]);
});

test('a process without embedding leaves texts to others and does not wait for them', async () => {
  const passages: string[] = [];
  const provider = fakeProvider();
  provider.embed = async (texts, { purpose } = {}) => {
    if (purpose !== 'query') passages.push(...texts);
    return texts.map(letters);
  };
  const reader = createMeaning({ vectors: storage.vectors.context, provider, log: silentLogger, embeds: false });
  opened.push(reader);
  const worker = open(fakeProvider());
  await complete(worker, 'everything else');
  const id = await store('left to others');
  const signal = new AbortController().signal;
  const request = { text: 'left to others', limit: 1, waitMs: 3_600_000, signal };
  // If it waited, the test would time out.
  assert.equal((await reader.search(request)).pending, 1);
  await worker.search(request);
  const { matches, pending } = await reader.search(request);
  assert.deepEqual([pending, matches[0]?.id], [0, id]);
  assert.deepEqual(passages, []);
});

test('contract §2: a search cancelled while waiting for vectors gives no answer', async (t) => {
  const provider = fakeProvider();
  const cancel = new AbortController();
  let fresh = 0;
  const { context } = storage.vectors;
  const meaning = open(provider, {
    ...context,
    async unembedded(request, options) {
      const owners = await context.unembedded(request, options);
      // By then the search waits for them.
      if (owners.includes(fresh)) setImmediate(() => cancel.abort());
      return owners;
    },
  });
  const gate = Promise.withResolvers<void>();
  t.after(() => gate.resolve());
  await complete(meaning, 'everything else');
  provider.embed = async (texts, { purpose } = {}) => {
    if (purpose !== 'query') await gate.promise;
    return texts.map(letters);
  };
  fresh = await store('never embedded');
  const search = meaning.search({ text: 'x', limit: 5, waitMs: 600_000, signal: cancel.signal });
  await assert.rejects(search, { code: 'cancelled' });
  assert.ok(cancel.signal.aborted);
});
