/** Runs the local model on a thread of its own: one message with a text in, one with its vector out. */
import { parentPort, workerData } from 'node:worker_threads';
import { type EmbeddingModel, loadEmbeddingModel } from './embedding-model.ts';
import type { OnnxDevice, OnnxRuntimeConfig } from './onnx-runtime.ts';

export type EmbeddingWorkerData = OnnxRuntimeConfig;

export interface EmbeddingWorkerReply {
  /** The first message, when the model is loaded, has nothing else. */
  device?: OnnxDevice;
  vector?: Float32Array;
  /** What went wrong with this text. A model that cannot be loaded ends the worker instead. */
  failure?: string;
}

const config: EmbeddingWorkerData = workerData;
// Texts that arrive while the model is being loaded wait in the port.
const model = await loadEmbeddingModel(config);
parentPort?.postMessage({ device: model.device } satisfies EmbeddingWorkerReply);

parentPort?.on('message', async (text: string) => {
  parentPort?.postMessage(await reply(model, text));
});

async function reply(embeddings: EmbeddingModel, text: string): Promise<EmbeddingWorkerReply> {
  try {
    return { vector: await embeddings.embed(text) };
  } catch (error) {
    return { failure: String(error) };
  }
}
