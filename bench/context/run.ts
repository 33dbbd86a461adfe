/**
 * The context store at size: storing one by one and in batches, then searches with filters, words and ids.
 *
 *     node bench/context/run.ts [--entries 100000] [--calls 200] [--database postgres://…]
 *
 * Without embeddings: they are made in the background and measured by bench/memory. Entries are made from a fixed seed, so
 * that another server on the same machine can be given the same data.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { silentLogger } from '../../src/base/log.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Call } from '../../src/tools/call.ts';
import { contextSlice } from '../../src/toolsets/context/context-slice.ts';
import { createContextToolset } from '../../src/toolsets/context/toolset.ts';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    calls: { type: 'string', default: '200' },
    database: { type: 'string' },
  },
});
const entriesCount = Number(options.entries);
const callsCount = Number(options.calls);

const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
const storage =
  options.database === undefined
    ? await createSqliteStorage({ path: join(folder, 'context.db') })
    : await createPostgresStorage({ url: options.database });
const defaults = Object.fromEntries(Object.entries(contextSlice.fields).map(([name, field]) => [name, field.default]));
const toolset = createContextToolset(defaults as never, { storage, embeddings: undefined, log: silentLogger });
const call: Call = {
  caller: { id: 'bench', owner: 'bench' },
  signal: new AbortController().signal,
  report: () => {},
  log: silentLogger,
};
const random = createRandom(7);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const words = Array.from(
  { length: 5000 },
  (_, index) => `${pick(['ba', 'ko', 'mi', 'tu', 're', 'sol'])}${index.toString(36)}`,
);
const states = ['pending', 'active', 'done', 'failed'];

try {
  console.log(
    `| operation (${entriesCount} entries, ${options.database ? 'PostgreSQL' : 'SQLite'}) | calls | p50 ms | p99 ms |`,
  );
  console.log('|---|---|---|---|');
  let made = 0;
  await measure('store_context_batch of 100', entriesCount / 100, 'store_context_batch', () => ({
    entries: Array.from({ length: 100 }, () => newEntry(made++)),
  }));
  await measure('store_context', callsCount, 'store_context', () => newEntry(made++));
  const search = (name: string, input: () => Record<string, unknown>) =>
    measure(name, callsCount, 'search_context', input);
  await search('search_context: newest 30', () => ({}));
  await search('search_context: a thread', () => ({ thread_id: `thread ${Math.floor(random() * 1000)}` }));
  await search('search_context: status (a quarter of all)', () => ({ metadata: { status: pick(states) } }));
  await search('search_context: number > (a hundredth)', () => ({
    metadata_filters: [{ key: 'priority', operator: 'gt', value: 98 }],
  }));
  await search('search_context: one in a thousand, nested', () => ({
    metadata: { 'owner.name': `name ${Math.floor(random() * 1000)}` },
  }));
  await search('search_context: contains', () => ({
    metadata_filters: [{ key: 'task_name', operator: 'contains', value: pick(words) }],
  }));
  await search('search_context: not_exists', () => ({ metadata_filters: [{ key: 'absent', operator: 'not_exists' }] }));
  await search('search_context: a tag and a status', () => ({
    tags: [`tag ${Math.floor(random() * 50)}`],
    metadata: { status: pick(states) },
  }));
  const find = (name: string, input: () => Record<string, unknown>) =>
    measure(name, callsCount, 'fts_search_context', input);
  await find('fts_search_context: two words', () => ({ query: `${pick(words)} ${pick(words)}` }));
  await find('fts_search_context: one word, in a quarter', () => ({
    query: pick(words),
    metadata: { status: pick(states) },
  }));
  await measure('hybrid_search_context: five words', callsCount, 'hybrid_search_context', () => ({
    query: Array.from({ length: 5 }, () => pick(words)).join(' '),
  }));
  await measure('get_context_by_ids: ten', callsCount, 'get_context_by_ids', () => ({
    context_ids: Array.from({ length: 10 }, () => 1 + Math.floor(random() * entriesCount)),
  }));
  await measure('list_threads', 20, 'list_threads', () => ({ limit: 100 }));
  await measure('get_statistics', 5, 'get_statistics', () => ({}));
} finally {
  await toolset.close?.();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(
  name: string,
  count: number,
  toolName: string,
  input: () => Record<string, unknown>,
): Promise<void> {
  const tool = toolset.tools.find((each) => each.name === toolName);
  if (tool === undefined) throw new Error(`no tool ${toolName}`);
  const times: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const parsed = tool.input.parse(input());
    const start = performance.now();
    await tool.run(parsed, call);
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1);
  console.log(`| ${name} | ${count} | ${at(0.5)} | ${at(0.99)} |`);
}

function newEntry(number: number) {
  return {
    thread_id: `thread ${number % 1000}`,
    source: number % 2 === 0 ? 'user' : 'agent',
    text: `${number} ${Array.from({ length: 30 }, () => pick(words)).join(' ')}`,
    tags: [`tag ${number % 50}`, `tag ${number % 7}`],
    metadata: {
      status: pick(states),
      priority: Math.floor(random() * 100),
      task_name: `${pick(words)} ${pick(words)}`,
      owner: { name: `name ${number % 1000}`, teams: [pick(words)] },
    },
  };
}

/** mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
