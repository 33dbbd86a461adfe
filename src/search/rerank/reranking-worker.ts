/** Runs the local cross-encoder on its own thread: question and passage in, logit out. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import type { OnnxDevice } from '../models/onnx-runtime.ts';
import { loadRerankingModel, type RerankingModelConfig } from './reranking-model.ts';

export interface Pair {
  readonly query: string;
  readonly passage: string;
}

export interface ScoredPair {
  readonly logit: number;
  readonly device: OnnxDevice;
  readonly cpuMs: number;
}

const config: RerankingModelConfig = workerData;

answerCalls<Pair, ScoredPair>(async () => {
  const model = await loadRerankingModel(config);
  return {
    async perform({ query, passage }) {
      const before = cpuMs();
      const logit = await model.score(query, passage);
      return { logit, device: model.device, cpuMs: cpuMs() - before };
    },
  };
});

/**
 * Estimates the CPU time of the model's threads: this thread's time multiplied by their number. Before Node 23.9, returns that of
 * the whole process, which is at least as high.
 */
function cpuMs(): number {
  const own = process.threadCpuUsage?.();
  const { user, system } = own ?? process.cpuUsage();
  const threads = own && config.device !== 'wasm' ? (config.cores ?? 1) : 1;
  return (threads * (user + system)) / 1000;
}
