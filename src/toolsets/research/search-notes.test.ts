import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createReranker } from '../../search/rerank/reranker.ts';
import { createSqliteStorage } from '../../storage/sqlite/sqlite-storage.ts';
import { searchNotes } from './search-notes.ts';

test("scores a note's title and tags along with the passage", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  const storage = await createSqliteStorage({ path: join(folder, 'test.db') });
  context.after(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  await storage.notes.save({
    title: 'Passport',
    content: 'The renewal takes six weeks.',
    tags: ['office'],
    sourceUrls: [],
  });
  const read: string[] = [];
  const reranker = createReranker({
    provider: {
      name: 'test',
      device: undefined,
      async score(_query, passages) {
        read.push(...passages);
        return passages.map(() => 1);
      },
      close: async () => {},
    },
    weight: 1,
    calibration: [{ features: ['logit'], intercept: 0, weights: [1], onTopicMin: 0.5 }],
  });
  const request = { query: 'renewal', tags: [], limit: 5, offset: 0, hidesWeak: false, signal: context.signal };
  const { notes } = await searchNotes(request, storage.notes, reranker);
  assert.equal(notes.length, 1);
  assert.deepEqual(read, ['Passport / office\nThe renewal takes six weeks.']);
});
