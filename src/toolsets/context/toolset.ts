import { isDeepStrictEqual } from 'node:util';
import type { Logger } from '../../base/log.ts';
import type { EmbeddingProvider } from '../../search/embeddings/embedding-provider.ts';
import { createMeaning } from '../../search/meaning/meaning.ts';
import type { SummaryProvider } from '../../search/summaries/summary-provider.ts';
import type { Storage } from '../../storage/contracts/storage.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { type ContextParts, wakeBacklogs } from './context-parts.ts';
import { type ContextConfig, contextSlice } from './context-slice.ts';
import { createEntrySource } from './search/entry-source.ts';
import { createEntryResources } from './show/entry-resources.ts';
import { createDeleteContextTool } from './tools/delete-context.ts';
import { createDeleteContextBatchTool } from './tools/delete-context-batch.ts';
import { createFtsSearchContextTool } from './tools/fts-search-context.ts';
import { createGetContextByIdsTool } from './tools/get-context-by-ids.ts';
import { createGetStatisticsTool } from './tools/get-statistics.ts';
import { createGrepContextTool } from './tools/grep-context.ts';
import { createHybridSearchContextTool } from './tools/hybrid-search-context.ts';
import { createListThreadsTool } from './tools/list-threads.ts';
import { createNavigateContextTool } from './tools/navigate-context.ts';
import { createReadContextRangeTool } from './tools/read-context-range.ts';
import { createRestoreContextTool } from './tools/restore-context.ts';
import { createSearchContextTool } from './tools/search-context.ts';
import { createSemanticSearchContextTool } from './tools/semantic-search-context.ts';
import { createStoreContextTool } from './tools/store-context.ts';
import { createStoreContextBatchTool } from './tools/store-context-batch.ts';
import { createUpdateContextTool } from './tools/update-context.ts';
import { createUpdateContextBatchTool } from './tools/update-context-batch.ts';
import { createEntrySummaries } from './write/entry-summaries.ts';
import { indexConfiguredFields } from './write/index-fields.ts';
import { extractiveSummaries, type ModelServers, summaryProviderOf } from './write/summary-settings.ts';

export interface ContextDeps {
  storage: Storage;
  /** Undefined where there are no embeddings. */
  embeddings: EmbeddingProvider | undefined;
  /** The provider of a model that was used before, by its name. */
  formerEmbeddings?: (model: string) => Promise<EmbeddingProvider | undefined>;
  /** Unless given, the best sentences of a text are its summary. */
  summaryProvider?: SummaryProvider | undefined;
  log: Logger;
  /** What is to be done soon, and need not be done before the first call. */
  settle?: () => Promise<void>;
  /** Gives back what was lent. */
  close?: () => Promise<void>;
}

const backlogDelayMs = 1_000;

/** The same with what the settings ask of the database and of servers. */
export async function openContextToolset(
  config: ContextConfig,
  { servers, ...deps }: ContextDeps & { servers: ModelServers },
): Promise<Toolset> {
  const settle = (): Promise<void> => indexConfiguredFields(config, { entries: deps.storage.entries, log: deps.log });
  const mayWait = isUsualIndex(config);
  if (!mayWait) await settle();
  return createContextToolset(config, {
    ...deps,
    summaryProvider: summaryProviderOf(config, servers),
    ...(mayWait ? { settle } : {}),
  });
}

/** An agent's memory: seed 002. */
export function createContextToolset(config: ContextConfig, deps: ContextDeps): Toolset {
  const { storage, embeddings, log } = deps;
  const { entries } = storage;
  const usesMeaning = config.semanticSearch !== 'false' && embeddings !== undefined;
  const meaning = usesMeaning
    ? createMeaning({
        vectors: storage.vectors.context,
        provider: inParts(embeddings, config),
        providerOf: deps.formerEmbeddings,
        log,
      })
    : undefined;
  const words = config.fullTextSearch !== 'false';
  const local = extractiveSummaries(config);
  const summaries =
    config.summaries === 'false'
      ? undefined
      : createEntrySummaries(
          { charsMin: config.summaryMinChars },
          { entries, provider: deps.summaryProvider ?? local, local, log },
        );
  const parts: ContextParts = {
    entries,
    meaning,
    summaries,
    backend: storage.backend === 'sqlite' ? 'sqlite' : 'postgresql',
    writes: {
      imageMaxMb: config.imageMaxMb,
      imagesMaxMb: config.imagesMaxMb,
      summaryCharsMin: summaries?.charsMin,
    },
    truncationChars: config.truncationChars,
    rrfK: config.rrfK,
    reranks: config.reranking !== 'false',
  };
  const chunkChars = config.chunking ? config.chunkChars : undefined;
  const statistics = { words, chunkChars, summaryCharsMin: config.summaryMinChars };
  const isHybrid = config.hybridSearch !== 'false' && (words || meaning !== undefined);
  // What an earlier process left to do waits until this one has started: reading it needs a thread of its own. Where
  // nothing was left, the first read makes that thread, so that nobody waits for it.
  const backlog = setTimeout(() => {
    deps.settle?.().catch((error: unknown) => log.incident('the index of metadata is left as it is', error));
    wakeBacklogs({ meaning, summaries });
    entries.threads({ limit: 1, offset: 0 }).catch(() => {});
  }, backlogDelayMs).unref();
  return {
    name: 'context',
    tools: [
      createStoreContextTool(parts),
      createSearchContextTool(parts),
      createGetContextByIdsTool(parts),
      createDeleteContextTool(parts),
      createUpdateContextTool(parts),
      createListThreadsTool(parts),
      createGetStatisticsTool(statistics, { ...parts, storage }),
      ...(meaning === undefined ? [] : [createSemanticSearchContextTool(meaning, parts)]),
      ...(words ? [createFtsSearchContextTool(parts)] : []),
      ...(isHybrid ? [createHybridSearchContextTool({ words }, parts)] : []),
      createStoreContextBatchTool(parts),
      createUpdateContextBatchTool(parts),
      createDeleteContextBatchTool(parts),
      createGrepContextTool(parts),
      createNavigateContextTool(parts),
      createReadContextRangeTool(parts),
      createRestoreContextTool(parts),
    ],
    failures: { as: 'result' },
    readsNumbers: true,
    resources: [createEntryResources(entries)],
    sources: words || meaning !== undefined ? [createEntrySource({ words }, parts)] : [],
    async close() {
      clearTimeout(backlog);
      await Promise.all([meaning?.close(), summaries?.close()]);
      await deps.close?.();
    },
  };
}

/**
 * A new store has the usual fields from the start. An older one gets those that it lacks whenever that is done, and until
 * then every filter finds the same without them.
 */
function isUsualIndex({ indexedFields, indexSyncMode }: ContextConfig): boolean {
  const usual = contextSlice.fields.indexedFields.default;
  return isDeepStrictEqual(indexedFields, usual) && (indexSyncMode === 'auto' || indexSyncMode === 'additive');
}

/** The provider, given long texts in parts of the configured length, or whole. */
function inParts(provider: EmbeddingProvider, { chunking, chunkChars }: ContextConfig): EmbeddingProvider {
  return {
    name: provider.name,
    get dimensions() {
      return provider.dimensions;
    },
    windowUnits: chunking ? chunkChars : Number.POSITIVE_INFINITY,
    embed: (texts, options) => provider.embed(texts, options),
    close: () => provider.close(),
  };
}
