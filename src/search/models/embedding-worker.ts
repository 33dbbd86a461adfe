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

/** Scheduling priority of this thread (0 is normal, 19 the lowest), so that searches go before embedding. */
const niceness = 5;
lowerPriority();

answerCalls<string, EmbeddedText>(async () => {
  const model = await loadEmbeddingModel(config);
  return { perform: async (text) => ({ vector: await model.embed(text), device: model.device }) };
});

/** Lowers the priority of this thread. Works on Linux only, where a priority can be set by thread id. */
function lowerPriority(): void {
  try {
    const thread = systemThread();
    if (thread !== undefined) setPriority(thread, niceness);
  } catch {}
}
