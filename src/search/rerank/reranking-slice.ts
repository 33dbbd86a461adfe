import { automatic } from '../../config/automatic.ts';
import { choice, defineSlice, httpUrl, integer, optionalText, secret } from '../../config/field.ts';

export const rerankingSlice = defineSlice('reranking', 'Reranking', {
  enabled: automatic({
    env: ['ENABLE_RERANKING'],
    description:
      'Whether a second model, which reads the query and each passage together, reorders the best results. auto means yes, unless the provider is none.',
  }),
  provider: choice(['local', 'http', 'none'], {
    default: 'local',
    env: ['RERANKING_PROVIDER'],
    description:
      'The model that reranks: the bundled one (local), one on a server with a /rerank endpoint (http), or none.',
  }),
  url: httpUrl({
    default: undefined,
    env: ['RERANKING_URL'],
    description:
      'The address of the reranking server: Text Embeddings Inference, Cohere, Jina, llama.cpp, vLLM or similar. If the path does not end with /rerank, Carrel appends that.',
  }),
  model: optionalText({
    env: ['RERANKING_MODEL'],
    isPath: ({ provider }) => provider !== 'http',
    description:
      'With http, the name of the model. With local, a folder with another cross-encoder: model.onnx, config.json, tokenizer.json and tokenizer_config.json.',
  }),
  apiKey: secret({ env: ['RERANKING_API_KEY'], description: 'The API key for the reranking server.' }),
  threads: integer({
    default: 0,
    min: 0,
    max: 64,
    env: ['RERANKING_THREADS', 'EMBEDDING_THREADS'],
    description: 'Cores for the local model. 0 means all, up to eight.',
  }),
  budgetMs: integer({
    default: 500,
    min: 50,
    max: 60_000,
    env: ['RERANKING_BUDGET_MS'],
    description:
      'Max CPU time of the local model per search, in milliseconds; it may take twice that by the clock. With http, the time to wait for the server, at least two seconds. Results that were not rated in time come last, in their previous order.',
  }),
});
