import { bundledModelFolder, bundledModelName } from './bundled-model.ts';
import { createEmbeddingProvider } from './create-embedding-provider.ts';
import type { EmbeddingConfig } from './embedding-config.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';

/**
 * The provider of a model whose vectors are still there, from its name and today's settings: the addresses and the key are
 * not kept with the vectors. Undefined for a local model that is not the one in the package.
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
