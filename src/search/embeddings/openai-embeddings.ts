import * as z from 'zod';
import { createRemoteCalls } from '../models/remote-calls.ts';
import type { EmbeddingConfig } from './embedding-config.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import { createRemoteEmbeddings, vectorSchema } from './remote-embeddings.ts';

export type OpenaiEmbeddingsConfig = Pick<
  EmbeddingConfig,
  'model' | 'dimensions' | 'openaiBase' | 'openaiKey' | 'timeoutMs' | 'attemptsMax' | 'concurrencyMax' | 'queryMs'
>;

/** Any server that speaks OpenAI's POST /embeddings. Local ones often need no key. */
export function createOpenaiEmbeddings(config: OpenaiEmbeddingsConfig): EmbeddingProvider {
  const { model = 'text-embedding-3-small', dimensions, openaiKey } = config;
  const calls = createRemoteCalls(config);
  const url = `${config.openaiBase.replace(/\/+$/, '')}/embeddings`;
  const headers: Record<string, string> = openaiKey ? { authorization: `Bearer ${openaiKey}` } : {};
  return createRemoteEmbeddings({
    name: `openai:${model}`,
    dimensions,
    queryMs: config.queryMs,
    request: (input, signal) =>
      calls.post(
        url,
        { model, input, encoding_format: 'float', ...(dimensions ? { dimensions } : {}) },
        headers,
        signal,
      ),
    answerSchema: z
      .object({ data: z.array(z.object({ index: z.int(), embedding: vectorSchema })) })
      // The order of the answer is not guaranteed, but each item has its index.
      .transform(({ data }) => data.sort((left, right) => left.index - right.index).map(({ embedding }) => embedding)),
  });
}
