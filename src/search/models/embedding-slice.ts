import { addressText, choice, defineSlice, integer, optionalText, secret } from '../../config/field.ts';

export const embeddingSlice = defineSlice('embedding', 'Search by meaning', {
  provider: choice(['local', 'ollama', 'openai', 'none'], {
    default: 'local',
    env: ['EMBEDDING_PROVIDER'],
    description: 'Where vectors come from: the bundled model (local), an Ollama or OpenAI-compatible server, or none.',
  }),
  model: optionalText({
    env: ['EMBEDDING_MODEL'],
    description: 'The name of the model on the Ollama or OpenAI-compatible server. Ignored if the provider is local.',
  }),
  threads: integer({
    default: 0,
    min: 0,
    max: 64,
    env: ['EMBEDDING_THREADS'],
    description: 'Threads for the local model; each uses about 90 MB of memory. 0 means one per core, up to eight.',
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
  openaiKey: secret({ env: ['OPENAI_API_KEY'], description: 'The API key for the OpenAI-compatible server.' }),
});
