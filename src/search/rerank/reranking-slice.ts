import { automatic } from '../../config/automatic.ts';
import { choice, defineSlice, httpUrl, integer, optionalText, secret } from '../../config/field.ts';

export const rerankingSlice = defineSlice('reranking', 'Reranking', {
  enabled: automatic({
    env: ['ENABLE_RERANKING'],
    description:
      'Whether a model that reads question and passage together reorders the best results of a search. auto: if there is a provider.',
  }),
  provider: choice(['local', 'http', 'none'], {
    default: 'local',
    env: ['RERANKING_PROVIDER'],
    description:
      'Which model reranks: the bundled one (local), one on a server with a /rerank endpoint (http), or none.',
  }),
  url: httpUrl({
    default: undefined,
    env: ['RERANKING_URL'],
    description:
      'The address of the server: Text Embeddings Inference, Cohere, Jina, llama.cpp, vLLM or similar. /rerank is appended unless the path ends with it.',
  }),
  model: optionalText({
    env: ['RERANKING_MODEL'],
    isPath: ({ provider }) => provider !== 'http',
    description:
      'local: a folder with another cross-encoder (model.onnx, config.json, tokenizer.json, tokenizer_config.json). http: the name of the model.',
  }),
  apiKey: secret({ env: ['RERANKING_API_KEY'], description: 'The key for the server.' }),
  threads: integer({
    default: 0,
    min: 0,
    max: 64,
    env: ['RERANKING_THREADS', 'EMBEDDING_THREADS'],
    description: 'Cores for the local model. 0: all, up to eight.',
  }),
  budgetMs: integer({
    default: 500,
    min: 50,
    max: 60_000,
    env: ['RERANKING_BUDGET_MS'],
    description:
      'CPU time of the local model per search, in milliseconds; it waits at most twice as long. Unread results come last, in their order. A server gets at least two seconds.',
  }),
});
