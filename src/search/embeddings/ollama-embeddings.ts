import * as z from 'zod';
import { createRemoteCalls } from '../models/remote-calls.ts';
import type { EmbeddingConfig } from './embedding-config.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import { createRemoteEmbeddings, vectorSchema } from './remote-embeddings.ts';

export type OllamaEmbeddingsConfig = Pick<
  EmbeddingConfig,
  'model' | 'dimensions' | 'ollamaHost' | 'timeoutMs' | 'attemptsMax' | 'concurrencyMax' | 'queryMs'
>;

/** An Ollama server: POST /api/embed. It loads the model with the first request, which may take a minute. */
export function createOllamaEmbeddings(config: OllamaEmbeddingsConfig): EmbeddingProvider {
  const { model = 'nomic-embed-text', dimensions } = config;
  const calls = createRemoteCalls(config);
  const url = `${config.ollamaHost.replace(/\/+$/, '')}/api/embed`;
  return createRemoteEmbeddings({
    name: `ollama:${model}`,
    dimensions,
    queryMs: config.queryMs,
    request: (input, signal) =>
      calls.post(url, { model, input, truncate: true, ...(dimensions ? { dimensions } : {}) }, {}, signal),
    answerSchema: z.object({ embeddings: z.array(vectorSchema) }).transform(({ embeddings }) => embeddings),
  });
}
