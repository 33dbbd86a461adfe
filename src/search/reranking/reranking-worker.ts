/** Runs the local cross-encoder on a thread of its own: one call with a question and a passage in, a logit out. */
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import type { OnnxDevice } from '../models/onnx-runtime.ts';
import { loadRerankingModel, type RerankingModelConfig } from './reranking-model.ts';

export type RerankingWorkerData = RerankingModelConfig;

export interface Pair {
  readonly query: string;
  readonly passage: string;
}

export interface ScoredPair {
  readonly logit: number;
  /** That the model runs on. */
  readonly device: OnnxDevice;
}

const config: RerankingWorkerData = workerData;

answerCalls<Pair, ScoredPair>(async () => {
  const model = await loadRerankingModel(config);
  return {
    perform: async ({ query, passage }) => ({ logit: await model.score(query, passage), device: model.device }),
  };
});
