import * as z from 'zod';
import type { SliceValues } from '../../config/field.ts';
import { modelThreadsOf } from '../models/model-threads.ts';
import type { embeddingSlice } from './embedding-slice.ts';

export const embeddingConfigSchema = z.object({
  provider: z
    .enum(['local', 'ollama', 'openai', 'none'])
    .default('local')
    .describe(
      'Where vectors come from: the model in the package, an Ollama server, an OpenAI-compatible server, nowhere.',
    ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe('Name of the model on the server. The local model is the one in its folder.'),
  modelFolder: z.string().min(1).optional().describe('Folder with another local model (model.onnx, tokenizer.json).'),
  dimensions: z.int().min(1).max(8192).optional().describe('Length of the vectors, if the server is to shorten them.'),
  ollamaHost: z.url().default('http://127.0.0.1:11434').describe('Address of the Ollama server.'),
  openaiBase: z.url().default('https://api.openai.com/v1').describe('Base address of the OpenAI-compatible server.'),
  openaiKey: z.string().min(1).optional().describe('Key for the OpenAI-compatible server.'),
  threads: z
    .int()
    .min(1)
    .max(64)
    .default(() => modelThreadsOf(0))
    .describe('Cores that the local model may keep busy.'),
  queuedTextsMax: z.int().min(1).default(20_000).describe('Texts that may wait for the local model.'),
  timeoutMs: z.int().min(100).default(60_000).describe('Time for one text (local) or one request (servers).'),
  queryMs: z.int().min(1).default(20_000).describe('How long a search waits for a server to embed its query.'),
  attemptsMax: z.int().min(1).max(10).default(4).describe('How often a request is made before it has failed.'),
  concurrencyMax: z.int().min(1).max(64).default(4).describe('Requests to a server at the same time.'),
});

export type EmbeddingConfig = z.infer<typeof embeddingConfigSchema>;

/** The settings for the providers, with defaults for what cannot be configured. */
export function embeddingConfigOf(settings: SliceValues<typeof embeddingSlice>): EmbeddingConfig {
  const { provider, model, threads, ollamaHost, openaiBase, openaiKey } = settings;
  return embeddingConfigSchema.parse({
    ...{ provider, model, ollamaHost, openaiBase, openaiKey: openaiKey?.reveal() },
    ...(threads === 0 ? {} : { threads }),
  });
}
