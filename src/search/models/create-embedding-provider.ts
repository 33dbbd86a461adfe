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

/** The settings, plus limits that can't be configured. */
export function embeddingConfigOf(settings: SliceValues<typeof embeddingSlice>): EmbeddingConfig {
  const { openaiKey, threads, ...others } = settings;
  const limits = { timeoutMs: 60_000, queryMs: 20_000, attemptsMax: 4, concurrencyMax: 4 };
  return { ...others, ...limits, openaiKey: openaiKey?.reveal(), threads: modelThreadsOf(threads) };
}

/** Starts nothing: the first text loads a model or calls a server. Callers check for `none` before. */
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

/** The provider of a model whose vectors are still stored, with the current addresses and keys. Undefined if unavailable. */
export function formerProvider(config: EmbeddingConfig, name: string): EmbeddingProvider | undefined {
  const [, provider = '', model = ''] = /^([a-z]+):(.+)$/.exec(name) ?? [];
  if (provider === 'ollama' || provider === 'openai') return createEmbeddingProvider({ ...config, provider, model });
  if (provider !== 'local' || model !== bundledModelName) return undefined;
  return createEmbeddingProvider({ ...config, provider });
}
