import assert from 'node:assert/strict';
import type { SliceValues } from '../../config/field.ts';
import { bundledModelFolder, bundledModelName } from './bundled-model.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import type { embeddingSlice } from './embedding-slice.ts';
import { createLocalEmbeddings } from './local-embeddings.ts';
import { modelThreadsOf } from './model-threads.ts';
import { createRemoteEmbeddings, type RemoteEmbeddingsConfig } from './remote-embeddings.ts';

export interface EmbeddingConfig extends RemoteEmbeddingsConfig {
  provider: 'local' | 'ollama' | 'openai' | 'none';
  /** Cores for the local model. */
  threads: number;
}

/** Combines the settings with fixed limits. */
export function embeddingConfigOf(settings: SliceValues<typeof embeddingSlice>): EmbeddingConfig {
  const { openaiKey, threads, ...others } = settings;
  const limits = { timeoutMs: 60_000, queryMs: 20_000, attemptsMax: 4, concurrencyMax: 4 };
  return { ...others, ...limits, openaiKey: openaiKey?.reveal(), threads: modelThreadsOf(threads) };
}

/** Creates a provider, but starts nothing: the first text loads the model or calls the server. `none` is not allowed. */
export function createEmbeddingProvider(config: EmbeddingConfig): EmbeddingProvider {
  const { provider } = config;
  assert(provider !== 'none');
  if (provider !== 'local') return createRemoteEmbeddings(provider, config);
  return createLocalEmbeddings({
    modelFolder: bundledModelFolder(),
    threads: config.threads,
    queuedTextsMax: 20_000,
    textTimeoutMs: config.timeoutMs,
  });
}

/** Creates the provider of a previous model by name, with the current addresses and keys. Undefined if no longer available. */
export function previousProvider(config: EmbeddingConfig, name: string): EmbeddingProvider | undefined {
  const [, provider = '', model = ''] = /^([a-z]+):(.+)$/.exec(name) ?? [];
  if (provider === 'ollama' || provider === 'openai') return createEmbeddingProvider({ ...config, provider, model });
  if (provider !== 'local' || model !== bundledModelName) return undefined;
  return createEmbeddingProvider({ ...config, provider });
}
