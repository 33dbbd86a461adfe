import { CarrelError } from '../../base/errors.ts';
import { bundledModelFolder, bundledModelName } from './bundled-model.ts';
import type { EmbeddingConfig } from './embedding-config.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import { createLocalEmbeddings } from './local-embeddings.ts';
import { createOllamaEmbeddings } from './ollama-embeddings.ts';
import { createOpenaiEmbeddings } from './openai-embeddings.ts';

/** Starts nothing: a model is loaded, or a server asked, with the first text. */
export function createEmbeddingProvider(config: EmbeddingConfig): EmbeddingProvider {
  switch (config.provider) {
    case 'local':
      return createLocalEmbeddings({
        modelFolder: config.modelFolder ?? bundledModelFolder(),
        threads: config.threads,
        queuedTextsMax: config.queuedTextsMax,
        textTimeoutMs: config.timeoutMs,
      });
    case 'ollama':
      return createOllamaEmbeddings(config);
    case 'openai':
      return createOpenaiEmbeddings(config);
    case 'none':
      return noEmbeddings;
  }
}

/** Search by meaning is switched off. Callers should check the configuration instead of calling it. */
const noEmbeddings: EmbeddingProvider = {
  name: 'none',
  dimensions: undefined,
  embed: async (texts) => {
    if (texts.length === 0) return [];
    throw new CarrelError('unavailable', 'Search by meaning is switched off here (EMBEDDING_PROVIDER=none).');
  },
  close: async () => {},
};

/**
 * The provider of a model whose vectors are still stored, from its name and the current settings: addresses and keys are
 * not stored with the vectors. Undefined for a local model other than the bundled one.
 */
export function formerProvider(config: EmbeddingConfig, name: string): EmbeddingProvider | undefined {
  const [, provider = '', model = ''] = /^([a-z]+):(.+)$/.exec(name) ?? [];
  if (provider === 'local') {
    if (model !== bundledModelName) return undefined;
    return createEmbeddingProvider({ ...config, provider, modelFolder: bundledModelFolder() });
  }
  if (provider !== 'ollama' && provider !== 'openai') return undefined;
  return createEmbeddingProvider({ ...config, provider, model });
}
