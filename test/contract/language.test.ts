import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openStorage, type StorageLocation } from '../../src/storage/open-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { type Language, useLanguage } from '../../src/words/language.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { onEachBackend } from '../support/backends.ts';
import { passageWriter } from '../support/passages.ts';

onEachBackend('the language of words', (backend) => {
  after(() => useLanguage('english'));

  async function withStorage<T>(
    location: StorageLocation,
    language: Language | undefined,
    use: (storage: Storage) => T,
  ) {
    const storage = await openStorage({ ...location, language });
    try {
      return await use(storage);
    } finally {
      await storage.close();
    }
  }

  test('a new language retokenizes all texts, and the database keeps it (contract §5, FTS_LANGUAGE)', async () => {
    const location = await backend.newLocation();
    const find = async ({ notes, entries, passages }: Storage, word: string): Promise<number[]> => {
      const query = plainQuery(word);
      const page = { limit: 10, offset: 0 };
      return [
        (await notes.list({ query: word, tags: [], ...page })).total,
        (await entries.searchWords({ query, filter: {}, explain: false, ...page })).total,
        (await passages.search({ query, ...page })).total,
      ];
    };
    await withStorage(location, undefined, async (storage) => {
      const text = 'Die Häuser stehen am See';
      await storage.notes.save({ title: 'Wohnen', content: text, tags: ['Städte'], sourceUrls: [] });
      const entry = { threadId: 't', source: 'user' as const, metadata: undefined, tags: [], images: [] };
      await storage.entries.store({ entries: [{ ...entry, text, summary: undefined }] });
      const passage = { id: 'p', title: '', headings: ['Wohnen'], body: text, labels: [] };
      await passageWriter(storage).replace([{ parent: 'd', passages: [passage] }]);
      assert.deepEqual(await find(storage, 'Haus'), [0, 0, 0]);
    });
    await withStorage(location, 'german', async (storage) => {
      assert.deepEqual(await find(storage, 'Haus'), [1, 1, 1]);
      assert.equal((await storage.notes.list({ query: 'Stadt', tags: [], limit: 10, offset: 0 })).total, 1);
      assert.deepEqual(await storage.check(), []);
    });
    await withStorage(location, undefined, async (storage) => {
      assert.deepEqual(await find(storage, 'Hauses'), [1, 1, 1]);
    });
  });
});
