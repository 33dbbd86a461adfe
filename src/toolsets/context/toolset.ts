import { isDeepStrictEqual } from 'node:util';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createMeaning } from '../../search/meaning/meaning.ts';
import type { EmbeddingProvider } from '../../search/models/embedding-provider.ts';
import type { SummaryProvider } from '../../search/models/summary-provider.ts';
import { rerankerWithoutModel } from '../../search/rerank/open-reranker.ts';
import type { Reranker } from '../../search/rerank/reranker.ts';
import type { EntryStore } from '../../storage/entries/entry-store.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Toolset } from '../../tools/toolset.ts';
import { type ContextParts, wakeBacklogs } from './context-parts.ts';
import { type ContextConfig, contextSlice } from './context-slice.ts';
import { createContextPrompts } from './prompts.ts';
import { scopedEntries, scopedMeaning } from './scoped-entries.ts';
import { createEntrySource } from './search/entry-source.ts';
import { createTextThread } from './search/text-thread.ts';
import { createCitableEntries, createEntryResources } from './show/entry-resources.ts';
import {
  createContextConsoleTools,
  createDeleteContextBatchTool,
  createDeleteContextTool,
  createRestoreContextTool,
} from './tools/delete-context.ts';
import { createFtsSearchContextTool } from './tools/fts-search-context.ts';
import { createGetContextByIdsTool } from './tools/get-context-by-ids.ts';
import { createGetStatisticsTool } from './tools/get-statistics.ts';
import { createGrepContextTool } from './tools/grep-context.ts';
import { createHybridSearchContextTool } from './tools/hybrid-search-context.ts';
import { createListThreadsTool } from './tools/list-threads.ts';
import { createNavigateContextTool, createReadContextRangeTool } from './tools/read-context.ts';
import { createSearchContextTool } from './tools/search-context.ts';
import { createSemanticSearchContextTool } from './tools/semantic-search-context.ts';
import { createStoreContextBatchTool, createStoreContextTool } from './tools/store-context.ts';
import { createUpdateContextBatchTool, createUpdateContextTool } from './tools/update-context.ts';
import { createEntrySummaries } from './write/entry-summaries.ts';
import { extractiveSummaries, type ModelServers, summaryProviderOf } from './write/summarise.ts';

export interface ContextDeps {
  storage: Storage;
  /** Undefined if embeddings are disabled. */
  embeddings: EmbeddingProvider | undefined;
  /** Returns the provider of a previously used model, by name. */
  previousEmbeddings?: (model: string) => Promise<EmbeddingProvider | undefined>;
  /** If undefined, nothing is reranked. */
  reranker?: Reranker | undefined;
  /** If undefined, a summary consists of the text's best sentences. */
  summaryProvider?: SummaryProvider | undefined;
  log: Logger;
  /** Updates the metadata index. It runs in the background, soon after the start. */
  indexFields?: () => Promise<void>;
  /** Releases the dependencies above. */
  close?: () => Promise<void>;
}

const backlogDelayMs = 1_000;

/** Creates the toolset with the configured metadata index and summary provider. */
export async function openContextToolset(
  config: ContextConfig,
  { modelServers, ...deps }: ContextDeps & { modelServers: ModelServers },
): Promise<Toolset> {
  const indexFields = (): Promise<void> =>
    indexConfiguredFields(config, { entries: deps.storage.entries, log: deps.log });
  const canIndexLater = hasDefaultIndex(config);
  if (!canIndexLater) await indexFields();
  return createContextToolset(config, {
    ...deps,
    summaryProvider: summaryProviderOf(config, modelServers),
    ...(canIndexLater ? { indexFields } : {}),
  });
}

/** Max entries that a search waits for while they are embedded, newest first. */
const waitForNewest = 32;

/** Creates the toolset for an agent's memory, which is compatible with mcp-context-server. */
export function createContextToolset(config: ContextConfig, deps: ContextDeps): Toolset {
  const { storage, embeddings, log } = deps;
  const { entries } = storage;
  const usesMeaning = config.semanticSearch !== 'false' && embeddings !== undefined;
  const meaning = usesMeaning
    ? createMeaning({
        vectors: storage.vectors.context,
        provider: withChunking(embeddings, config),
        providerOf: deps.previousEmbeddings,
        log,
        waitForNewest,
      })
    : undefined;
  const words = config.fullTextSearch !== 'false';
  const local = extractiveSummaries(config);
  const summaries =
    config.summaries === 'false'
      ? undefined
      : createEntrySummaries(
          { charsMin: config.summaryMinChars },
          {
            entries,
            provider: deps.summaryProvider ?? local,
            local,
            log,
            shared: deps.summaryProvider && storage.shared,
          },
        );
  const parts: ContextParts = {
    entries,
    meaning,
    summaries,
    texts: createTextThread(),
    backend: storage.backend === 'sqlite' ? 'sqlite' : 'postgresql',
    writes: {
      imageMaxMb: config.imageMaxMb,
      imagesMaxMb: config.imagesMaxMb,
      summaryCharsMin: summaries?.charsMin,
    },
    truncationChars: config.truncationChars,
    rrfK: config.rrfK,
    reranker: deps.reranker ?? rerankerWithoutModel(),
  };
  const chunkChars = config.chunking ? config.chunkChars : undefined;
  const statistics = { words, chunkChars, summaryCharsMin: config.summaryMinChars };
  const isHybrid = config.hybridSearch !== 'false' && (words || meaning !== undefined);
  const search = isHybrid ? 'hybrid_search_context' : words ? 'fts_search_context' : 'search_context';
  // Once this process has started, continues the work that an earlier process left unfinished.
  const backlog = setTimeout(() => {
    deps.indexFields?.().catch((error: unknown) => log.incident('could not update the metadata index', error));
    wakeBacklogs({ meaning, summaries });
  }, backlogDelayMs).unref();
  /** Creates the toolset for all entries, or for a restricted caller's view of them. */
  const createFor = (view: ContextParts, describedStorage: Storage | undefined): Toolset => ({
    name: 'context',
    tools: [
      createStoreContextTool(view),
      createSearchContextTool(view),
      createGetContextByIdsTool(view),
      createDeleteContextTool(view),
      createUpdateContextTool(view),
      createListThreadsTool(view),
      createGetStatisticsTool(statistics, { ...view, storage: describedStorage }),
      ...(view.meaning === undefined ? [] : [createSemanticSearchContextTool(view.meaning, view)]),
      ...(words ? [createFtsSearchContextTool(view)] : []),
      ...(isHybrid ? [createHybridSearchContextTool({ words }, view)] : []),
      createStoreContextBatchTool(view),
      createUpdateContextBatchTool(view),
      createDeleteContextBatchTool(view),
      createGrepContextTool(view),
      createNavigateContextTool(view),
      createReadContextRangeTool(view),
      createRestoreContextTool(view),
    ],
    consoleTools: createContextConsoleTools(view),
    failures: { as: 'result' },
    acceptsTextValues: true,
    instructions: `Memory: look up what is known before a task (${search}; get_context_by_ids for whole entries), and store decisions, results and the user's preferences as they come up (store_context, one thread_id per task).`,
    resources: [createEntryResources(view.entries)],
    prompts: createContextPrompts(view.entries, { search }),
    citable: [createCitableEntries(view.entries)],
    sources: words || view.meaning !== undefined ? [createEntrySource({ words }, view)] : [],
  });
  const unrestricted = createFor(parts, storage);
  return {
    ...unrestricted,
    scopedTo({ threads }) {
      if (threads === undefined) return unrestricted;
      const view = {
        ...parts,
        entries: scopedEntries(entries, threads),
        meaning: meaning && scopedMeaning(meaning, threads),
      };
      return createFor(view, undefined);
    },
    async measure() {
      const { bytes } = await storage.describe();
      const vectorState = meaning && (await storage.vectors.context.state({ model: meaning.model }));
      return [
        { metric: 'storageBytes', labels: { database: 'own' }, value: bytes },
        ...(vectorState
          ? [{ metric: 'unembedded', labels: { toolset: 'context' }, value: vectorState.pending } as const]
          : []),
      ];
    },
    async close() {
      clearTimeout(backlog);
      await Promise.all([meaning?.close(), summaries?.close(), parts.texts.close()]);
      await deps.close?.();
    },
  };
}

/** Returns true if only the default fields are indexed. New databases have them, so the update can wait until after the start. */
function hasDefaultIndex({ indexedFields, indexSyncMode }: ContextConfig): boolean {
  const defaults = contextSlice.fields.indexedFields.default;
  return isDeepStrictEqual(indexedFields, defaults) && (indexSyncMode === 'auto' || indexSyncMode === 'additive');
}

/** Returns the provider, set to embed long texts in parts or, without chunking, whole. */
function withChunking(provider: EmbeddingProvider, { chunking, chunkChars }: ContextConfig): EmbeddingProvider {
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

/** Updates the metadata index to the configured fields, as far as METADATA_INDEX_SYNC_MODE allows. */
export async function indexConfiguredFields(
  { indexedFields: fields, indexSyncMode: mode }: Pick<ContextConfig, 'indexedFields' | 'indexSyncMode'>,
  { entries, log }: { entries: EntryStore; log: Logger },
): Promise<void> {
  try {
    const { missing, extra } = await entries.indexFields({ fields, mode });
    const differs = missing.length > 0 || extra.length > 0;
    if (differs && mode === 'strict') {
      throw new CarrelError(
        'invalid_config',
        `METADATA_INDEXED_FIELDS differs from the index in the database (missing: ${formatNames(missing)}; extra: ${formatNames(extra)}). Set METADATA_INDEX_SYNC_MODE=auto once to change the index, or set METADATA_INDEXED_FIELDS to the fields that the index has.`,
      );
    }
    if (differs && mode === 'warn')
      log.warn('the metadata index differs from METADATA_INDEXED_FIELDS', { missing, extra });
  } catch (error) {
    // In a read-only database, the index stays as it is.
    if (!isCarrelError(error) || error.code !== 'storage_read_only') throw error;
    log.warn('the metadata index is left unchanged', { reason: error.message });
  }
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
