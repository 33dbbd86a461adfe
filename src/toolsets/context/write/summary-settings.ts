import type { Secret } from '../../../base/secret.ts';
import { createModelSummaries } from '../../../search/models/model-summaries.ts';
import type { SummaryProvider } from '../../../search/models/summary-provider.ts';
import type { ContextConfig } from '../context-slice.ts';
import { summarise } from './summarise.ts';

/** The configured model servers, for embeddings and summaries. */
export interface ModelServers {
  readonly ollamaHost: string;
  readonly openaiBase: string;
  readonly openaiKey: Secret | undefined;
}

const defaultModels = { ollama: 'qwen3:0.6b', openai: 'gpt-4o-mini' };

/** Creates the configured summary provider. Returns undefined if summaries are disabled. */
export function summaryProviderOf(config: ContextConfig, servers: ModelServers): SummaryProvider | undefined {
  if (config.summaries === 'false') return undefined;
  const { summaryProvider: provider } = config;
  if (provider === 'extractive') return extractiveSummaries(config);
  return createModelSummaries({
    provider,
    model: config.summaryModel ?? defaultModels[provider],
    base: provider === 'ollama' ? servers.ollamaHost : servers.openaiBase,
    key: provider === 'ollama' ? undefined : servers.openaiKey?.reveal(),
    tokensMax: config.summaryMaxTokens,
    timeoutMs: config.summaryTimeoutSeconds * 1000,
    attemptsMax: config.summaryAttempts,
    backOffMs: config.summaryBackOffSeconds * 1000,
    concurrencyMax: config.summaryConcurrency,
    prompt: config.summaryPrompt,
    contextTokens: config.summaryContextTokens,
    truncatesLongTexts: config.summaryCutsLongTexts,
    reasoningEffort: config.summaryReasoningEffort,
  });
}

/**
 * Creates the provider that takes a text's best sentences. It needs no model and takes a few milliseconds per text.
 */
export function extractiveSummaries({ summaryMaxTokens: tokensMax }: { summaryMaxTokens: number }): SummaryProvider {
  return {
    name: 'extractive',
    model: undefined,
    isLocal: true,
    concurrencyMax: 1,
    summarise: async (text) => summarise(text, { tokensMax }),
  };
}
