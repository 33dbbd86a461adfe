/**
 * Runs LoCoMo, a benchmark of questions about long conversations, through the context tools. Stores every turn with
 * store_context_batch, then searches each question's thread. Reports recall of the turns with the answer, tokens per search
 * result, and latency.
 *
 *     node bench/memory/run.ts --data ../shared/data --split test [--cache folder]
 *
 * Category 5 (questions without an answer) is skipped, as in the published figures. `--cache` keeps vectors between runs; the
 * times then exclude the embedding model.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { estimateTokens } from '../../src/answers/token-estimate.ts';
import { silentLogger } from '../../src/base/log.ts';
import { bundledModelFolder } from '../../src/search/models/bundled-model.ts';
import { createLocalEmbeddings } from '../../src/search/models/local-embeddings.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { type Call, localUser } from '../../src/tools/call.ts';
import { contextSlice } from '../../src/toolsets/context/context-slice.ts';
import { createContextToolset } from '../../src/toolsets/context/toolset.ts';
import { createCachedEmbeddings } from '../quality/cached-embeddings.ts';
import { type DataSet, loadDataSet } from '../quality/data-set.ts';
import { type Figures, figuresOf, meanFigures } from '../quality/metrics.ts';
import { quantile } from '../statistics.ts';
import { type Baseline, createFts5, createGrep, wordsOf } from './baselines.ts';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    split: { type: 'string', default: 'test' },
    cache: { type: 'string' },
  },
});

const dataSet = loadDataSet(options.data, 'locomo');
if (dataSet === undefined) throw new Error(`locomo is not in ${options.data}`);
const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
const storage = await createSqliteStorage({ path: join(folder, 'memory.db') });
const model = createLocalEmbeddings({
  modelFolder: bundledModelFolder(),
  threads: 1,
  queuedTextsMax: 1_000_000,
  textTimeoutMs: 60_000,
});
const provider = options.cache === undefined ? model : createCachedEmbeddings(model, options.cache, 'locomo');
const defaults = Object.fromEntries(Object.entries(contextSlice.fields).map(([name, field]) => [name, field.default]));
const toolset = createContextToolset(defaults as never, { storage, embeddings: provider, log: silentLogger });
const call: Call = {
  caller: { ...localUser, id: 'bench', owner: 'bench' },
  signal: new AbortController().signal,
  report: () => {},
  log: silentLogger,
};
const callTool = async (name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> => {
  const tool = toolset.tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return (await tool.run(tool.input.parse(input), call)) as Record<string, unknown>;
};

try {
  const passageOf = await storeAll(dataSet);
  await waitUntilEmbedded();
  console.log('| tool | n | nDCG@10 | R@5 | R@10 | MRR@10 | tokens of 5 results | p50 ms | p99 ms |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  measureBaseline(dataSet, 'grep, most words first', createGrep(dataSet));
  measureBaseline(dataSet, 'FTS5 alone, any word', createFts5(dataSet));
  await searchAll(dataSet, passageOf, 'fts_search_context', (text) => ({ query: anyWord(text), mode: 'boolean' }));
  await searchAll(dataSet, passageOf, 'semantic_search_context', (text) => ({ query: text }));
  await searchAll(dataSet, passageOf, 'hybrid_search_context', (text) => ({ query: text }));
} finally {
  await toolset.close?.();
  await provider.close();
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
}

/** Stores all passages. Returns the passage of each context_id. */
async function storeAll(data: DataSet): Promise<Map<number, number>> {
  const start = performance.now();
  const passageOf = new Map<number, number>();
  for (let at = 0; at < data.passages.length; at += 100) {
    const batch = data.passages.slice(at, at + 100);
    const entries = batch.map(({ text, group }, index) => ({
      thread_id: group,
      source: (at + index) % 2 === 0 ? 'user' : 'agent',
      text,
    }));
    const { results } = await callTool('store_context_batch', { entries });
    (results as { context_id: number }[]).forEach(({ context_id: id }, index) => {
      passageOf.set(id, at + index);
    });
  }
  console.error(`${data.passages.length} turns stored in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return passageOf;
}

async function waitUntilEmbedded(): Promise<void> {
  const start = performance.now();
  for (;;) {
    const { semantic_search: status } = await callTool('get_statistics', {});
    if ((status as { coverage_percentage: number }).coverage_percentage === 100) break;
    await delay(1000);
  }
  console.error(`embedded in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

async function searchAll(
  data: DataSet,
  passageOf: ReadonlyMap<number, number>,
  tool: string,
  input: (text: string) => Record<string, unknown>,
): Promise<void> {
  const figures: Figures[] = [];
  const times: number[] = [];
  let tokens = 0;
  for (const { text, group, relevant } of queriesOf(data)) {
    const start = performance.now();
    const { results } = await callTool(tool, { ...input(text), thread_id: group, limit: 10 });
    times.push(performance.now() - start);
    const hits = results as { id: number }[];
    tokens += estimateTokens(JSON.stringify(hits.slice(0, 5)));
    figures.push(
      figuresOf(
        hits.map(({ id }) => passageOf.get(id) ?? -1),
        relevant,
      ),
    );
  }
  printRow(tool, figures, tokens, times);
}

function measureBaseline(data: DataSet, name: string, baseline: Baseline): void {
  const times: number[] = [];
  let tokens = 0;
  const queries = queriesOf(data);
  const figures = queries.map(({ text, group, relevant }) => {
    const start = performance.now();
    const hits = baseline(text, group);
    times.push(performance.now() - start);
    tokens += estimateTokens(JSON.stringify(hits.slice(0, 5).map((number) => data.passages[number]?.text)));
    return figuresOf(hits, relevant);
  });
  printRow(name, figures, tokens, times);
}

function queriesOf(data: DataSet) {
  return data.queries.filter(({ split }) => options.split === 'all' || split === options.split);
}

function printRow(name: string, figures: readonly Figures[], tokens: number, times: number[]): void {
  const { ndcg10, recall5, recall10, mrr10 } = meanFigures(figures);
  const at = (share: number) => quantile(times, share).toFixed(1);
  const cells = [ndcg10, recall5, recall10, mrr10].map((value) => value.toFixed(3)).join(' | ');
  const tokensPerSearch = Math.round(tokens / figures.length);
  console.log(`| ${name} | ${figures.length} | ${cells} | ${tokensPerSearch} | ${at(0.5)} | ${at(0.99)} |`);
}

/** Joins the words of a question with OR, because hardly any turn has all of them. */
function anyWord(text: string): string {
  return wordsOf(text).slice(0, 60).join(' OR ');
}
