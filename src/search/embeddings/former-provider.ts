import { bundledModelFolder, bundledModelName } from './bundled-model.ts';
import { createEmbeddingProvider } from './create-embedding-provider.ts';
import type { EmbeddingConfig } from './embedding-config.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';

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
