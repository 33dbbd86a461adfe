import { availableParallelism } from 'node:os';
import { openReranker, rerankerWithoutModel } from '../../src/search/rerank/open-reranker.ts';
import type { Reranker } from '../../src/search/rerank/reranker.ts';

/** Opens the shipped reranker, without a time limit. `model` names a folder with another model, or is `none`. */
export function openBenchReranker(model: string | undefined): Reranker {
  if (model === 'none') return rerankerWithoutModel();
  return openReranker({
    enabled: 'true',
    provider: 'local',
    url: undefined,
    model,
    apiKey: undefined,
    threads: availableParallelism(),
    budgetMs: 600_000,
  });
}
