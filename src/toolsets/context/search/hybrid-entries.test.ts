import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CarrelError } from '../../../base/errors.ts';
import { silentLogger } from '../../../base/log.ts';
import { engineSlice } from '../../../engine/engine-slice.ts';
import { createEngine } from '../../../engine/local/create-engine.ts';
import type { EmbeddingProvider } from '../../../search/models/embedding-provider.ts';
import { createSqliteStorage } from '../../../storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../../storage/storage.ts';
import { localUser } from '../../../tools/call.ts';
import { contextSlice } from '../context-slice.ts';
import { createContextToolset } from '../toolset.ts';

/** The cosine between each text and every query. Each text is recognized by a word that only it contains. */
const cosines = { antelope: 0.93, badger: 0.91, caracal: 0.89, dormouse: 0.76, echidna: 0.72, query: 1 };
type Marker = keyof typeof cosines;
const markers = ['antelope', 'badger', 'caracal', 'dormouse', 'echidna'] as const;

/** Too long to be embedded with the previous message, short enough for a single vector. */
const filler = 'Nothing else is told on this page, which goes on for a while so that it is a usual one. '.repeat(3);

/**
 * The words favour the prose, the meaning favours the code. Of texts as similar as the last two, memory ranks the
 * later first.
 */
const texts: Record<(typeof markers)[number], string> = {
  antelope: 'def antelope(rows):\n    """Orders them."""\n    for row in rows:\n        yield row\n    return None\n',
  badger: 'def badger(rows):\n    """Puts in order."""\n    if rows is None:\n        raise ValueError()\n',
  caracal: 'def caracal(rows, key):\n    result = list(rows)\n    result.reverse()\n    return result\n',
  echidna: `echidna: customers get invoices. ${filler}`,
  dormouse: `dormouse: the invoices of customers are sorted by their date. ${filler}`,
};

/** The name of the bundled model, whose span is known. */
const provider: EmbeddingProvider = {
  name: 'local:carrel-embedding-1',
  dimensions: 2,
  embed: async (batch) =>
    batch.map((text) => {
      if (text.includes(unembeddable)) throw new CarrelError('unavailable', 'too long for the server');
      const marker = (Object.keys(cosines) as Marker[]).find((name) => text.includes(name)) ?? 'query';
      return new Float32Array([cosines[marker], Math.sqrt(1 - cosines[marker] ** 2)]);
    }),
  close: async () => {},
};

/** A text with this word gets no vectors. */
const unembeddable = 'fossa';

const query = 'sort invoices of customers by date';

async function withStorage(use: (storage: Storage) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-test-'));
  const storage = await createSqliteStorage({ path: join(folder, 'test.db'), queryTimeoutMs: 60_000 });
  try {
    await use(storage);
  } finally {
    await storage.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function defaultsOf(fields: Record<string, { default: unknown }>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]));
}

function markerOf(text: string): string | undefined {
  return [...markers, unembeddable].find((marker) => text.includes(marker));
}

interface Ranked {
  readonly marker: string | undefined;
  readonly score: number;
}

/** Stores each text in its own thread, because an entry is embedded together with the one before it. */
async function rankedInContext(stored: readonly string[], storage: Storage, signal: AbortSignal): Promise<Ranked[]> {
  const config = defaultsOf(contextSlice.fields) as never;
  const toolset = createContextToolset(config, { storage, embeddings: provider, log: silentLogger });
  const run = async (name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const tool = toolset.tools.find((each) => each.name === name);
    assert.ok(tool);
    const call = { caller: { ...localUser, id: 'test', owner: 'test' }, signal, report: () => {}, log: silentLogger };
    return (await tool.run(tool.input.parse(input), call)) as Record<string, unknown>;
  };
  for (const text of stored) {
    await run('store_context', { thread_id: markerOf(text), source: 'user', text });
  }
  const { results } = await run('hybrid_search_context', { query, limit: 10, include_weak: true });
  await toolset.close?.();
  return (results as { text_content: string; relevance: number }[]).map((entry) => ({
    marker: markerOf(entry.text_content),
    score: entry.relevance,
  }));
}

async function rankedInKnowledgeBase(stored: readonly string[], storage: Storage): Promise<Ranked[]> {
  const engine = createEngine(defaultsOf(engineSlice.fields) as never, {
    storage,
    extractor: { extract: () => Promise.reject(new Error('notes need none')), close: async () => {} },
    embeddings: provider,
    log: silentLogger,
  });
  for (const note of stored) await engine.submit({ note, title: 'Page' });
  for (;;) {
    const { queue } = await engine.status();
    if (queue.queued + queue.processing === 0) break;
    await delay(20);
  }
  const { results } = await engine.search({ query, top: 10, include_weak: true });
  await engine.close();
  return results.map(({ text, score }) => ({ marker: markerOf(text), score }));
}

test('the same texts rank in the same order in memory and knowledge base, with code among them', ({ signal }) =>
  withStorage(async (storage) => {
    const inContext = await rankedInContext(Object.values(texts), storage, signal);
    const inKnowledgeBase = await rankedInKnowledgeBase(Object.values(texts), storage);
    assert.equal(inContext.length, markers.length);
    assert.deepEqual(
      inContext.map(({ marker }) => marker),
      inKnowledgeBase.map(({ marker }) => marker),
    );
    inContext.forEach(({ score }, index) => {
      assert.ok(Math.abs(score - (inKnowledgeBase[index]?.score ?? 0)) < 1e-6, `the score of number ${index + 1}`);
    });
  }));

test('entries without vectors do not drop in rank', ({ signal }) =>
  withStorage(async (storage) => {
    const stored = [...Object.values(texts), `fossa: to sort invoices of customers by date, press F5. ${filler}`];
    const inContext = await rankedInContext(stored, storage, signal);
    const inKnowledgeBase = await rankedInKnowledgeBase(stored, storage);
    assert.equal(inContext[0]?.marker, unembeddable);
    assert.deepEqual(
      inContext.map(({ marker }) => marker),
      inKnowledgeBase.map(({ marker }) => marker),
    );
  }));
