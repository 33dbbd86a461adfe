import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CarrelError } from '../../../base/errors.ts';
import { silentLogger } from '../../../base/log.ts';
import { type SummaryProvider, UnusableText } from '../../../search/models/summary-provider.ts';
import type { NewEntry } from '../../../storage/entries/entry.ts';
import { createSqliteStorage } from '../../../storage/sqlite/sqlite-storage.ts';
import { createEntrySummaries } from './entry-summaries.ts';
import { extractiveSummaries } from './summarise.ts';

const long = 'The pipeline was rewritten last week. '.repeat(20);
const local = extractiveSummaries({ summaryMaxTokens: 2000 });

function provider(summarise: SummaryProvider['summarise']): SummaryProvider {
  return { name: 'ollama', model: 'm', isLocal: false, concurrencyMax: 2, summarise };
}

async function start(t: TestContext, path?: string) {
  const folder = path === undefined ? mkdtempSync(join(tmpdir(), 'carrel-test-')) : undefined;
  const file = path ?? join(folder ?? '', 'context.db');
  const storage = await createSqliteStorage({ path: file });
  t.after(async () => {
    await storage.close();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const { entries } = storage;
  const entry = (text: string): NewEntry => ({
    threadId: 't',
    source: 'user',
    text,
    metadata: undefined,
    tags: [],
    images: [],
    summary: undefined,
    needsSummary: true,
  });
  return {
    entries,
    file,
    close: () => storage.close(),
    store: async (...texts: string[]) => (await entries.store({ entries: texts.map(entry) })).map(({ id }) => id),
    summary: async (id = 0) => (await entries.get({ ids: [id], images: false }))[0]?.summary,
    run: (provider: SummaryProvider) =>
      createEntrySummaries(
        { charsMin: 500, waitMs: 60_000 },
        { entries, provider: provider, local, log: silentLogger },
      ),
  };
}

test('summaries follow the write, and a read waits for local ones', async (t) => {
  const { store, summary, run, entries } = await start(t);
  const summaries = run(local);
  const [id = 0, other] = await store(long, `${long} more`);
  assert.equal(await summary(id), undefined);
  summaries.wake();
  await summaries.waitForLocal();
  assert.equal(await summary(id), 'The pipeline was rewritten last week.');
  assert.ok(await summary(other));
  assert.deepEqual(await entries.unsummarised({ limit: 10 }), []);
  await summaries.close();
});

test('an unavailable provider loses nothing: the backlog survives a restart', async (t) => {
  const first = await start(t);
  const failed = Promise.withResolvers<void>();
  const away = first.run(
    provider(async () => {
      failed.resolve();
      throw new CarrelError('unavailable', 'away');
    }),
  );
  const [id] = await first.store(long);
  away.wake();
  await failed.promise;
  while (away.available) await new Promise(setImmediate);
  await away.close();
  assert.equal(await first.summary(id), undefined);
  await first.close();
  const second = await start(t, first.file);
  const done = Promise.withResolvers<void>();
  const back = second.run(
    provider(async (text) => {
      done.resolve();
      return `${text.length} characters`;
    }),
  );
  back.wake();
  await done.promise;
  while ((await second.entries.unsummarised({ limit: 1 })).length > 0) await new Promise(setImmediate);
  assert.equal(await second.summary(id), `${long.trim().length + 1} characters`);
  await back.close();
  await second.close();
});

test('uses an extractive summary if the provider cannot summarize a text', async (t) => {
  const { store, summary, run, entries } = await start(t);
  const summaries = run(
    provider(async (text) => {
      if (text.includes('poison')) throw new UnusableText('refused');
      return 'by the model';
    }),
  );
  const poison = `${long} poison`;
  const [bad, good] = await store(poison, `${long} fine`);
  summaries.wake();
  while ((await entries.unsummarised({ limit: 1 })).length > 0) await new Promise(setImmediate);
  const own = await local.summarise(poison, { source: 'user', signal: new AbortController().signal });
  assert.deepEqual([await summary(bad), await summary(good)], [own, 'by the model']);
  await summaries.close();
});

test('drops the summary of a text that has changed meanwhile', async (t) => {
  const { store, summary, run, entries } = await start(t);
  const [id = 0] = await store(long);
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const summaries = run(
    provider(async (text) => {
      started.resolve();
      await gate.promise;
      return `of ${text.slice(0, 3)}`;
    }),
  );
  summaries.wake();
  await started.promise;
  await entries.update({ updates: [{ id, text: `New. ${long}`, needsSummary: true }], allOrNothing: true });
  gate.resolve();
  while ((await entries.unsummarised({ limit: 1 })).length > 0) await new Promise(setImmediate);
  assert.equal(await summary(id), 'of New');
  await entries.update({ updates: [{ id, text: 'short', needsSummary: false }], allOrNothing: true });
  assert.equal(await summary(id), undefined);
  await summaries.close();
});
