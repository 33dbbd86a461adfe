import { addressText, choice, defineSlice, integer, optionalText, secret } from '../../config/field.ts';

export const embeddingSlice = defineSlice('embedding', 'Search by meaning', {
  provider: choice(['local', 'ollama', 'openai', 'none'], {
    default: 'local',
    env: ['EMBEDDING_PROVIDER'],
    description: 'Where vectors come from: the bundled model (local), an Ollama or OpenAI-compatible server, or none.',
  }),
  model: optionalText({
    env: ['EMBEDDING_MODEL'],
    description: 'Model name on the server. The local model is the bundled one.',
  }),
  threads: integer({
    default: 0,
    min: 0,
    max: 64,
    env: ['EMBEDDING_THREADS'],
    description: 'Cores for the local model, about 90 MB each. 0: all, up to eight.',
  }),
  ollamaHost: addressText({
    default: 'http://127.0.0.1:11434',
    env: ['OLLAMA_HOST'],
    description: 'The address of the Ollama server.',
  }),
  openaiBase: addressText({
    default: 'https://api.openai.com/v1',
    env: ['OPENAI_API_BASE'],
    description: 'The base address of the OpenAI-compatible server.',
  }),
  openaiKey: secret({ env: ['OPENAI_API_KEY'], description: 'The key for the OpenAI-compatible server.' }),
});
