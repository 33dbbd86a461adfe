import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CarrelError } from '../../base/errors.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import type { EmbeddedText } from './embedding-worker.ts';
import { createModelThreads } from './model-threads.ts';
import type { OnnxDevice } from './onnx-runtime.ts';

export interface LocalEmbeddingsConfig {
  /** Contains model.onnx, config.json, tokenizer.json and tokenizer_config.json. */
  modelFolder: string;
  /** Cores for the model, with a thread and about 90 MB each. */
  threads: number;
  queuedTextsMax: number;
  /** Timeout of one text, after which the worker is terminated and restarted. A text usually takes 5 to 100 ms. */
  textTimeoutMs: number;
  device?: OnnxDevice;
}

/** Creates a provider that runs a local model on worker threads. Queries go before passages. */
export function createLocalEmbeddings(config: LocalEmbeddingsConfig): EmbeddingProvider {
  const threads = createModelThreads<string, EmbeddedText>({
    from: import.meta.url,
    file: 'embedding-worker',
    name: 'carrel-embeddings',
    workerData: { modelFolder: config.modelFolder, device: config.device },
    threads: config.threads,
    queuedMax: config.queuedTextsMax,
    timeoutMs: config.textTimeoutMs,
    model: 'embedding',
  });
  let device: OnnxDevice | undefined;
  return {
    name: `local:${basename(config.modelFolder)}`,
    get dimensions() {
      return modelDimensions(config.modelFolder);
    },
    get device() {
      return device;
    },
    async embed(texts, { signal, purpose } = {}) {
      const embedded = await threads.run(texts, { signal, urgent: purpose === 'query' });
      device = embedded[0]?.device ?? device;
      return embedded.map(({ vector }) => vector);
    },
    close: () => threads.close(),
  };
}

function modelDimensions(folder: string): number {
  try {
    return JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).hidden_size;
  } catch (cause) {
    const message = `No embedding model found in ${folder}. Reinstall Carrel with its models/ folder.`;
    throw new CarrelError('invalid_config', message, { cause });
  }
}
