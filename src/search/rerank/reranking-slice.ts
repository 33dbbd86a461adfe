import { automatic } from '../../config/automatic.ts';
import { choice, defineSlice, httpUrl, integer, optionalText, secret } from '../../config/field.ts';

export const rerankingSlice = defineSlice('reranking', 'Reranking', {
  enabled: automatic({
    env: ['ENABLE_RERANKING'],
    description:
      'Whether a model that reads question and passage together orders the best results of a search. auto: when there is a provider.',
  }),
  provider: choice(['local', 'http', 'none'], {
    default: 'local',
    env: ['RERANKING_PROVIDER'],
    description: 'Which model reranks: the one in the package, one on a server with a /rerank, or none.',
  }),
  url: httpUrl({
    default: undefined,
    env: ['RERANKING_URL'],
    description:
      'The address of the server: Text Embeddings Inference, Cohere, Jina, llama.cpp, vLLM or alike. /rerank is added unless the path ends in it.',
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
    description: 'Cores that the local model may keep busy. 0: all, up to eight.',
  }),
  budgetMs: integer({
    default: 500,
    min: 50,
    max: 60_000,
    env: ['RERANKING_BUDGET_MS'],
    description:
      'CPU time that the local model may take for a search, in milliseconds; it waits at most twice as long. What was not read comes last, in its order. A server gets at least two seconds.',
  }),
});
