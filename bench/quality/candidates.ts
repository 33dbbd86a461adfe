/**
 * What the product's own hybrid hands to the reranker, for training and choosing a model (training/README.md):
 *
 *     node bench/quality/candidates.ts --data ../shared/data --sets locomo,scifact [--split dev] > candidates.jsonl
 *
 * One line for each question: its text, what answers it, and the best 50 as [position in the corpus, score].
 */
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundledModelFolder } from '../../src/search/embeddings/bundled-model.ts';
import { createLocalEmbeddings } from '../../src/search/embeddings/local-embeddings.ts';
import { searchHybrid } from '../../src/search/hybrid.ts';
import { rerankedMax } from '../../src/search/judging.ts';
import { createCachedEmbeddings } from './cached-embeddings.ts';
import { loadDataSet } from './data-set.ts';
import { createProductLegs } from './product-legs.ts';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: '../shared/data' },
    sets: { type: 'string', default: 'locomo,scifact,cosqa,chroma-chunking,cranfield' },
    split: { type: 'string', default: 'dev' },
    cache: { type: 'string', default: join(tmpdir(), 'carrel-bench-vectors') },
  },
});
const provider = createLocalEmbeddings({
  modelFolder: bundledModelFolder(),
  threads: availableParallelism(),
  queuedTextsMax: 1_000_000,
  textTimeoutMs: 60_000,
});
for (const name of options.sets.split(',')) {
  const set = loadDataSet(options.data, name);
  if (set === undefined) throw new Error(`${name} is not in ${options.data}`);
  const legs = await createProductLegs(set, createCachedEmbeddings(provider, options.cache, name));
  for (const { id, text, group, relevant } of set.queries.filter(({ split }) => split === options.split)) {
    const { words, meaning } = legs.forGroup(group);
    const found = await searchHybrid({ text, limit: rerankedMax }, { order: 'weighted', rrfK: 60 }, { words, meaning });
    const candidates = found.matches.map((match) => [legs.passageOf(match.id), Number(match.score.toFixed(5))]);
    console.log(JSON.stringify({ set: name, id, text, group, relevant: Object.fromEntries(relevant), candidates }));
  }
  await legs.close();
}
await provider.close();
