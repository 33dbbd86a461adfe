/** Runs the local model on a thread of its own: one call with a text in, its vector out. */
import { setPriority } from 'node:os';
import { workerData } from 'node:worker_threads';
import { answerCalls } from '../../base/workers/answer-calls.ts';
import { systemThread } from '../../base/workers/thread-time.ts';
import { loadEmbeddingModel } from './embedding-model.ts';
import type { OnnxDevice, OnnxRuntimeConfig } from './onnx-runtime.ts';

export interface EmbeddedText {
  readonly vector: Float32Array;
  /** That the model runs on. */
  readonly device: OnnxDevice;
}

const config: OnnxRuntimeConfig = workerData;

/** Of 19: whoever searches goes before whoever embeds. */
const niceness = 5;
giveWay();

answerCalls<string, EmbeddedText>(async () => {
  const model = await loadEmbeddingModel(config);
  return { perform: async (text) => ({ vector: await model.embed(text), device: model.device }) };
});

/** Linux has a priority for each thread, which goes by the number of the thread. Elsewhere all stays as it is. */
function giveWay(): void {
  try {
    const thread = systemThread();
    if (thread !== undefined) setPriority(thread, niceness);
  } catch {}
}
