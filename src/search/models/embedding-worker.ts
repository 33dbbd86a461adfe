/** Runs the local model on its own thread: text in, vector out. */
import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import { systemThread } from '../../base/workers/thread-time.ts';
import { loadEmbeddingModel } from './embedding-model.ts';
import type { OnnxDevice, OnnxRuntimeConfig } from './onnx-runtime.ts';

export interface EmbeddedText {
  readonly vector: Float32Array;
  readonly device: OnnxDevice;
}

const config: OnnxRuntimeConfig = workerData;

/** Maximum 19. Searching has priority over embedding. */
const niceness = 5;
giveWay();

answerCalls<string, EmbeddedText>(async () => {
  const model = await loadEmbeddingModel(config);
  return { perform: async (text) => ({ vector: await model.embed(text), device: model.device }) };
});

/** Linux has a priority per thread, set by thread id. Elsewhere nothing changes. */
function giveWay(): void {
  try {
    const thread = systemThread();
    if (thread !== undefined) setPriority(thread, niceness);
  } catch {}
}
