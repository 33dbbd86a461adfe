import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rerankPage } from '../../../search/rank/rerank-page.ts';
import { bundledRerankerFolder, readRerankerSettings } from '../../../search/rerank/bundled-reranker.ts';
import { createReranker } from '../../../search/rerank/reranker.ts';
import { createSqliteStorage } from '../../../storage/sqlite/sqlite-storage.ts';
import { createRerankDeps } from './entry-reranking.ts';
import { createTextThread } from './text-thread.ts';

test('002 reranking: a short reply is scored with its question; past versions are scored alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  const storage = await createSqliteStorage({ path: join(folder, 'test.db'), queryTimeoutMs: 60_000 });
  const texts = createTextThread();
  const read: string[] = [];
  const { questionContext, weight, calibration = [] } = readRerankerSettings(bundledRerankerFolder());
  const score = async (_: string, passages: readonly string[]) => {
    read.push(...passages);
    return passages.map(() => 0);
  };
  const provider = { name: 'test', device: undefined, score, close: async () => {} };
  try {
    const said = (text: string, source: 'user' | 'agent') => ({
      threadId: 't',
      text,
      source,
      metadata: undefined,
      tags: [],
      images: [],
      summary: undefined,
    });
    const question = `${'Well, '.repeat(40)}did you go to Leeds?`;
    const stored = await storage.entries.store({
      entries: [said(question, 'user'), said('Yes, on Friday.', 'agent'), said('Good.', 'user')],
    });
    const ranked = stored.map(({ id }) => ({ id, score: 1 }));
    const textsScoredWith = async (context: typeof questionContext, asOf?: string) => {
      const reranker = createReranker({ provider, weight, calibration, questionContext: context });
      const deps = createRerankDeps({ entries: storage.entries, reranker, texts }, { filter: { asOf } });
      read.length = 0;
      await rerankPage({ text: 'Leeds', limit: 10, offset: 0 }, ranked, deps);
      return [...read];
    };
    assert.deepEqual(await textsScoredWith(questionContext), [
      question,
      `${question.slice(-160)} » Yes, on Friday.`,
      'Good.',
    ]);
    assert.deepEqual(await textsScoredWith(questionContext, new Date(Date.now() + 1000).toISOString()), [
      question,
      'Yes, on Friday.',
      'Good.',
    ]);
    assert.deepEqual(
      await textsScoredWith(undefined),
      [question, 'Yes, on Friday.', 'Good.'],
      'a model that was not trained for it',
    );
  } finally {
    await texts.close();
    await storage.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
