import assert from 'node:assert/strict';
import { before, beforeEach, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { CarrelError } from '../../src/base/errors.ts';
import { silentLogger } from '../../src/base/log.ts';
import { embeddingState } from '../../src/search/meaning/embedding-state.ts';
import { createMeaning, type Meaning } from '../../src/search/meaning/meaning.ts';
import { type EmbeddingProvider, normalised } from '../../src/search/models/embedding-provider.ts';
import type { EntryFilter } from '../../src/storage/entries/entry.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { onEachBackend } from '../support/backends.ts';
import { until } from '../support/pause.ts';

interface Gate extends EmbeddingProvider {
  /** Releases waiting passages. Queries never wait. */
  open(): void;
  isDown: boolean;
  asked: string[];
}

/** Vectors that count letters; their length identifies the model. */
function gatedProvider(name: string, dimensions: number, isOpen: boolean): Gate {
  const gate = Promise.withResolvers<void>();
  if (isOpen) gate.resolve();
  return {
    name,
    dimensions,
    isDown: false,
    asked: [],
    open: () => gate.resolve(),
    async embed(texts, { purpose } = {}) {
      if (this.isDown) throw new CarrelError('unavailable', 'down');
      if (purpose === 'query') this.asked.push(...texts);
      else await gate.promise;
      return texts.map((text) => letters(text, dimensions));
    },
    close: async () => {},
  };
}

function letters(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  for (const character of text) {
    const index = character.charCodeAt(0) % dimensions;
    vector[index] = (vector[index] ?? 0) + 1;
  }
  return normalised(vector);
}

function start(context: TestContext, storage: Storage) {
  const opened: { meaning: Meaning<EntryFilter>; provider: Gate }[] = [];
  context.after(async () => {
    for (const { meaning, provider } of opened) {
      // Closing waits for running embeddings.
      provider.open();
      await meaning.close();
    }
  });
  const open = (provider: Gate, known: EmbeddingProvider[] = []) => {
    const providerOf = async (name: string) => known.find((each) => each.name === name);
    const meaning = createMeaning({ vectors: storage.vectors.context, provider, providerOf, log: silentLogger });
    opened.push({ meaning, provider });
    return meaning;
  };
  return open;
}

async function store(storage: Storage, text: string): Promise<number> {
  const entry = { threadId: text, source: 'user' as const, text, metadata: undefined, tags: [], images: [] };
  const [outcome] = await storage.entries.store({ entries: [{ ...entry, summary: undefined }] });
  return outcome?.id ?? 0;
}

const search = (meaning: Meaning<EntryFilter>, text: string) =>
  meaning.search({ text, limit: 1, signal: new AbortController().signal });

/** Repeats a search until nothing is pending: its own wait may be too short on a busy machine. */
async function complete(meaning: Meaning<EntryFilter>, text: string) {
  return until(async () => {
    const answer = await search(meaning, text);
    return answer.pending === 0 && answer;
  });
}

const models = async (storage: Storage) => (await storage.vectors.context.models()).map(({ model }) => model);

// Vectors are created, searched and dropped concurrently, on separate connections.
onEachBackend(
  'a change of the model',
  (backend) => {
    let storage: Storage;
    before(async () => {
      storage = await backend.open();
    });
    beforeEach(async () => {
      for (const model of await models(storage)) await storage.vectors.context.drop(model);
      await storage.entries.remove({ ids: await storage.entries.matching({}), dryRun: false });
    });

    test('the former model answers until every text has vectors of the new one, and is dropped then', async (context) => {
      const open = start(context, storage);
      const [before, after] = [gatedProvider('test:old', 32, true), gatedProvider('test:new', 48, false)];
      const first = await store(storage, 'aaa bbb');
      const earlier = open(before);
      assert.equal((await complete(earlier, 'aaa bbb')).matches[0]?.id, first);

      const meaning = open(after, [before]);
      before.asked = [];
      const found = await search(meaning, 'aaa bbb');
      assert.deepEqual([found.matches[0]?.id, found.pending, meaning.model], [first, 0, 'test:old']);
      assert.deepEqual([before.asked, after.asked], [['aaa bbb'], []]);

      // A text written during the change gets vectors of both models, and is found at once.
      const second = await store(storage, 'xxx yyy');
      assert.equal((await complete(meaning, 'xxx yyy')).matches[0]?.id, second);
      const [state] = await embeddingState(storage);
      assert.deepEqual(state?.change, { from: 'test:old', to: 'test:new', waiting: 2 });

      after.open();
      while (meaning.model !== 'test:new') await setTimeout(5);
      after.asked = [];
      const now = await search(meaning, 'xxx yyy');
      assert.deepEqual([now.matches[0]?.id, now.pending, after.asked], [second, 0, ['xxx yyy']]);
      while ((await models(storage)).length > 1) await setTimeout(5);
      assert.equal((await embeddingState(storage))[0]?.change, undefined);

      // A process with the old settings gets an error, and does not restart the change.
      await assert.rejects(search(earlier, 'aaa bbb'), /Restart this one with the same EMBEDDING_PROVIDER/);
      assert.deepEqual(await models(storage), ['test:new']);
    });

    test('if the former model is unavailable, finds what is embedded and reports the rest', async (context) => {
      const open = start(context, storage);
      await store(storage, 'aaa bbb');
      await complete(open(gatedProvider('test:old', 32, true)), 'aaa');
      const after = gatedProvider('test:new', 48, false);
      const meaning = open(after);
      const found = await search(meaning, 'aaa bbb');
      assert.deepEqual([found.matches, found.pending, meaning.model], [[], 1, 'test:new']);
      after.open();
      assert.equal((await complete(meaning, 'aaa bbb')).matches.length, 1);
    });

    test('gives up a former model that does not answer', async (context) => {
      const open = start(context, storage);
      await store(storage, 'aaa bbb');
      const before = gatedProvider('test:old', 32, true);
      await complete(open(before), 'aaa');
      before.isDown = true;
      const after = gatedProvider('test:new', 48, false);
      const meaning = open(after, [before]);
      assert.equal((await search(meaning, 'aaa bbb')).pending, 1);
      assert.equal(meaning.model, 'test:new');
      after.open();
    });

    test('a process whose model was dropped leaves the other model alone', async (context) => {
      const open = start(context, storage);
      await store(storage, 'aaa bbb');
      const slow = gatedProvider('test:old', 32, false);
      const looked = Promise.withResolvers<void>();
      const dropped: (string | undefined)[] = [];
      const { context: vectors } = storage.vectors;
      let looks = 0;
      const late = createMeaning({
        vectors: {
          ...vectors,
          async models(options) {
            const found = await vectors.models(options);
            looks += 1;
            // It checks once at the start, and again when everything seems embedded.
            if (looks === 2) looked.resolve();
            return found;
          },
          async drop(model) {
            dropped.push(model);
            await vectors.drop(model);
          },
        },
        provider: slow,
        log: silentLogger,
      });
      context.after(() => late.close());
      late.wake();
      while (!(await models(storage)).includes('test:old')) await setTimeout(10);
      await complete(open(gatedProvider('test:new', 48, true)), 'aaa');
      while ((await models(storage)).includes('test:old')) await setTimeout(10);
      slow.open();
      late.wake();
      await looked.promise;
      await late.close();
      assert.deepEqual(dropped, [undefined]);
      assert.deepEqual(await models(storage), ['test:new']);
    });

    test('leaves alone a model chosen by a process with newer settings', async (context) => {
      const open = start(context, storage);
      await store(storage, 'aaa bbb');
      const running = open(gatedProvider('test:old', 32, true));
      await complete(running, 'aaa');
      await storage.vectors.context.choose({ model: 'test:newer' });
      await store(storage, 'ccc ddd');
      await complete(running, 'ccc ddd');
      assert.deepEqual(await models(storage), ['test:old', 'test:newer']);
    });
  },
  'server',
);
