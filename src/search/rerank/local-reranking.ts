import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isCarrelError } from '../../base/errors.ts';
import { createModelThreads, modelFailure } from '../models/model-threads.ts';
import type { OnnxDevice } from '../models/onnx-runtime.ts';
import type { RerankingProvider } from './reranker.ts';
import type { RerankingModelConfig } from './reranking-model.ts';
import type { Pair, ScoredPair } from './reranking-worker.ts';

/** The model's folder contains model.onnx, config.json, tokenizer.json and tokenizer_config.json. */
export interface LocalRerankingConfig extends RerankingModelConfig {
  readonly cores: number;
  readonly queuedPairsMax: number;
  /** Timeout of one pair, after which the worker is terminated and restarted. A pair usually takes 2 to 50 ms. */
  readonly pairTimeoutMs: number;
  /** Max CPU time of one call, without loading the model. */
  readonly budgetMs: number;
}

/** Max wall time of a call, as a multiple of its CPU budget. On a busy machine, a call gets less CPU time. */
const wallTimeFactor = 2;

/**
 * Creates a provider that runs a local model on a worker thread, one pair at a time on all its cores. Several workers would be as
 * fast, but each takes 60 MB. The model loads on first use.
 */
export function createLocalReranking(config: LocalRerankingConfig): RerankingProvider {
  const { modelFolder, budgetMs } = config;
  const threads = createModelThreads<Pair, ScoredPair>({
    from: import.meta.url,
    file: 'reranking-worker',
    name: 'carrel-reranking',
    workerData: config,
    threads: 1,
    queuedMax: config.queuedPairsMax,
    timeoutMs: config.pairTimeoutMs,
    model: 'reranking',
  });
  let device: OnnxDevice | undefined;

  async function score(
    query: string,
    passages: readonly string[],
    signal?: AbortSignal,
  ): Promise<(number | undefined)[]> {
    // Checks here, to avoid starting a thread that would fail the same way.
    if (!existsSync(join(modelFolder, 'model.onnx')))
      throw modelFailure('reranking', new Error('model.onnx is missing'));
    const budget = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let spentMs = 0;
    const stopSignal = signal ? AbortSignal.any([signal, budget.signal]) : budget.signal;
    const scoreOne = async (passage: string): Promise<number | undefined> => {
      try {
        const [scored] = await threads.run([{ query, passage }], { signal: stopSignal, urgent: true });
        if (scored === undefined) return undefined;
        timer ??= setTimeout(() => budget.abort(), wallTimeFactor * budgetMs);
        device = scored.device;
        spentMs += scored.cpuMs;
        if (spentMs >= budgetMs) budget.abort();
        return scored.logit;
      } catch (error) {
        if (budget.signal.aborted && !signal?.aborted && isCarrelError(error) && error.code === 'cancelled') return;
        // Skips the remaining pairs of this call.
        budget.abort();
        throw error;
      }
    };
    const outcomes = await Promise.allSettled(passages.map(scoreOne));
    clearTimeout(timer);
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  return {
    name: `local:${basename(modelFolder)}`,
    get device() {
      return device;
    },
    score,
    close: () => threads.close(),
  };
}
