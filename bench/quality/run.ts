/**
 * Measures keyword, semantic and hybrid search on the test collections, with the shipped settings. Each collection is stored and
 * searched by the product's own code, in its own database. Only vectors are kept between runs (`--cache`).
 *
 *     node bench/quality/run.ts --data ../shared/data --split test [--sets locomo,scifact] [--cache folder]
 *
 * `--backend postgresql` uses PostgreSQL instead of SQLite. `--model none` skips reranking; `--model FOLDER` uses another reranker.
 * Settings are chosen on the dev splits; the test splits are for reporting. See docs/benchmarks.md.
 */
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledModelFolder } from '../../src/search/models/bundled-model.ts';
import { createLocalEmbeddings } from '../../src/search/models/local-embeddings.ts';
import { searchHybrid } from '../../src/search/rank/hybrid.ts';
import { withoutModel } from '../../src/search/rerank/reranker.ts';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { createTestDatabase, type PostgresServer, startRealPostgres } from '../../test/support/postgres.ts';
import { baselines } from './baselines.ts';
import { openBenchReranker } from './bench-reranker.ts';
import { createCachedEmbeddings } from './cached-embeddings.ts';
import { type BenchQuery, type DataSet, loadDataSet, splitByGroup } from './data-set.ts';
import { type Figures, figuresOf, meanFigures } from './metrics.ts';
import {
  type BenchStorage,
  createProductRetrievers,
  createSqlite,
  type ProductRetrievers,
  type Retrievers,
} from './product-retrievers.ts';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    sets: { type: 'string', default: 'locomo,scifact,cosqa,chroma-chunking,cranfield,xquad-r' },
    split: { type: 'string', default: 'test' },
    backend: { type: 'string', default: 'sqlite' },
    model: { type: 'string' },
    cache: { type: 'string', default: join(tmpdir(), 'carrel-bench-vectors') },
  },
});

const provider = createLocalEmbeddings({
  modelFolder: bundledModelFolder(),
  threads: availableParallelism(),
  queuedTextsMax: 1_000_000,
  textTimeoutMs: 60_000,
});

const reranker = openBenchReranker(options.model);
const postgres = options.backend === 'postgresql' ? await startServer() : undefined;

console.log(formatRow(['set (n)', 'run', 'nDCG@10', 'R@5', 'R@10', 'MRR@10']));
console.log(formatRow(['---', '---', '---', '---', '---', '---']));
for (const name of options.sets.split(',')) {
  const set = loadDataSet(options.data, name);
  if (set) await report(set);
  else console.error(`${name}: not in ${options.data}`);
}
await Promise.all([provider.close(), reranker.close()]);
await postgres?.stop();

async function startServer(): Promise<PostgresServer> {
  const server = await startRealPostgres();
  if (typeof server === 'string') throw new Error(server);
  return server;
}

async function createBenchStorage(): Promise<BenchStorage> {
  if (postgres === undefined) return createSqlite();
  const database = await createTestDatabase(postgres);
  const storage = await createPostgresStorage({ url: database.url, queryTimeoutMs: 60_000 });
  return { storage, remove: () => database.drop() };
}

async function report(set: DataSet): Promise<void> {
  if (set.name === 'xquad-r') await reportLanguages(set);
  else {
    const retrievers = await createProductRetrievers(
      set,
      createCachedEmbeddings(provider, options.cache, set.name),
      reranker,
      createBenchStorage,
    );
    const queries = set.queries.filter(({ split }) => split === options.split);
    for (const [run, figures] of Object.entries(await measure(retrievers, queries, false))) {
      console.log(formatRow([`${set.name} ${options.split} (${queries.length})`, run, ...formatFigures(figures)]));
    }
    await retrievers.close();
  }
  for (const { run, figures } of options.split === 'test' ? (baselines[set.name] ?? []) : []) {
    console.log(formatRow([set.name, run, ...figures]));
  }
}

async function measure(
  retrievers: ProductRetrievers,
  queries: readonly BenchQuery[],
  wordsOnly: boolean,
): Promise<Record<string, Figures>> {
  const runs: Record<string, Figures[]> = {};
  for (const query of queries) {
    for (const [run, ranking] of Object.entries(
      await rankings(retrievers.forGroup(query.group), query.text, wordsOnly),
    )) {
      runs[run] ??= [];
      runs[run].push(figuresOf(ranking.map(retrievers.passageOf), query.relevant));
    }
  }
  return Object.fromEntries(Object.entries(runs).map(([run, figures]) => [run, meanFigures(figures)]));
}

async function rankings(retrievers: Retrievers, text: string, wordsOnly: boolean): Promise<Record<string, number[]>> {
  const words = (await retrievers.words.search(text, 10)).map(({ id }) => id);
  if (wordsOnly || retrievers.meaning === undefined) return { words };
  const { matches: semantic } = await retrievers.meaning.search(text, 10);
  const ids = (matches: readonly { id: number }[]) => matches.map(({ id }) => id);
  const { corpus, rerankDeps } = retrievers;
  const unranked = { reranker: withoutModel(rerankDeps.reranker), texts: rerankDeps.texts, words: undefined };
  const { matches: hybrid } = await searchHybrid({ text, limit: 200 }, { corpus, rerankDeps: unranked });
  const reranked = rerankDeps.reranker.provider && (await searchHybrid({ text, limit: 10 }, retrievers));
  const rrf = hybrid.toSorted((left, right) => right.explanation.rrf - left.explanation.rrf);
  return {
    words,
    meaning: ids(semantic),
    hybrid: ids(hybrid.slice(0, 10)),
    ...(reranked ? { reranked: ids(reranked.matches) } : {}),
    'hybrid ordered by RRF 60': ids(rrf.slice(0, 10)),
  };
}

/** Reports keyword search in eleven languages, each with its own index. Vectors are not used, because the model is English. */
async function reportLanguages(set: DataSet): Promise<void> {
  const means: number[] = [];
  for (const language of splitByGroup(set)) {
    const retrievers = await createProductRetrievers(language, undefined, undefined, createBenchStorage);
    const { words } = await measure(retrievers, language.queries, true);
    await retrievers.close();
    means.push(words?.ndcg10 ?? 0);
    console.log(formatRow([language.name, 'words', ...(words ? formatFigures(words) : [])]));
  }
  const mean = means.reduce((sum, value) => sum + value, 0) / means.length;
  console.log(formatRow([set.name, 'words, mean of languages', formatFigure(mean), '', '', '']));
}

function formatFigures({ ndcg10, recall5, recall10, mrr10 }: Figures): string[] {
  return [ndcg10, recall5, recall10, mrr10].map(formatFigure);
}

function formatFigure(value: number): string {
  return value.toFixed(3).replace(/^0/, '');
}

function formatRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
