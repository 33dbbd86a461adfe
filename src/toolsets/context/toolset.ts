import { isDeepStrictEqual } from 'node:util';
import { CarrelError, isCarrelError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { createMeaning } from '../../search/meaning/meaning.ts';
import type { EmbeddingProvider } from '../../search/models/embedding-provider.ts';
import type { SummaryProvider } from '../../search/models/summary-provider.ts';
import { unrankedReranker } from '../../search/rerank/open-reranker.ts';
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
  formerEmbeddings?: (model: string) => Promise<EmbeddingProvider | undefined>;
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
  { servers, ...deps }: ContextDeps & { servers: ModelServers },
): Promise<Toolset> {
  const indexFields = (): Promise<void> =>
    indexConfiguredFields(config, { entries: deps.storage.entries, log: deps.log });
  const mayWait = isUsualIndex(config);
  if (!mayWait) await indexFields();
  return createContextToolset(config, {
    ...deps,
    summaryProvider: summaryProviderOf(config, servers),
    ...(mayWait ? { indexFields } : {}),
  });
}

/** Number of entries that a search waits for, newest first, if too many are being embedded to wait for all. */
const lastWaitedFor = 32;

/** Creates the toolset for an agent's memory, which is compatible with mcp-context-server. */
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
        lastWaitedFor,
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
    reranker: deps.reranker ?? unrankedReranker(),
  };
  const chunkChars = config.chunking ? config.chunkChars : undefined;
  const statistics = { words, chunkChars, summaryCharsMin: config.summaryMinChars };
  const isHybrid = config.hybridSearch !== 'false' && (words || meaning !== undefined);
  const search = isHybrid ? 'hybrid_search_context' : words ? 'fts_search_context' : 'search_context';
  // Continues the work that an earlier process left, once this process has started.
  const backlog = setTimeout(() => {
    deps.indexFields?.().catch((error: unknown) => log.incident('could not update the metadata index', error));
    wakeBacklogs({ meaning, summaries });
  }, backlogDelayMs).unref();
  const over = (known: ContextParts, described: Storage | undefined): Toolset => ({
    name: 'context',
    tools: [
      createStoreContextTool(known),
      createSearchContextTool(known),
      createGetContextByIdsTool(known),
      createDeleteContextTool(known),
      createUpdateContextTool(known),
      createListThreadsTool(known),
      createGetStatisticsTool(statistics, { ...known, storage: described }),
      ...(known.meaning === undefined ? [] : [createSemanticSearchContextTool(known.meaning, known)]),
      ...(words ? [createFtsSearchContextTool(known)] : []),
      ...(isHybrid ? [createHybridSearchContextTool({ words }, known)] : []),
      createStoreContextBatchTool(known),
      createUpdateContextBatchTool(known),
      createDeleteContextBatchTool(known),
      createGrepContextTool(known),
      createNavigateContextTool(known),
      createReadContextRangeTool(known),
      createRestoreContextTool(known),
    ],
    consoleTools: createContextConsoleTools(known),
    failures: { as: 'result' },
    readsNumbers: true,
    instructions: `Memory: look up what is known before a task (${search}; get_context_by_ids for whole entries), and store decisions, results and the user's preferences as they come up (store_context, one thread_id per task).`,
    resources: [createEntryResources(known.entries)],
    prompts: createContextPrompts(known.entries, { search }),
    citable: [createCitableEntries(known.entries)],
    sources: words || known.meaning !== undefined ? [createEntrySource({ words }, known)] : [],
  });
  const whole = over(parts, storage);
  return {
    ...whole,
    scopedTo({ threads }) {
      if (threads === undefined) return whole;
      const known = {
        ...parts,
        entries: scopedEntries(entries, threads),
        meaning: meaning && scopedMeaning(meaning, threads),
      };
      return over(known, undefined);
    },
    async measure() {
      const { bytes } = await storage.describe();
      const waiting = meaning && (await storage.vectors.context.state({ model: meaning.model }));
      return [
        { metric: 'storageBytes', labels: { database: 'own' }, value: bytes },
        ...(waiting ? [{ metric: 'unembedded', labels: { of: 'context' }, value: waiting.pending } as const] : []),
      ];
    },
    async close() {
      clearTimeout(backlog);
      await Promise.all([meaning?.close(), summaries?.close(), parts.texts.close()]);
      await deps.close?.();
    },
  };
}

/**
 * Returns true if the index can be updated after the start, because only the default fields are configured. A new
 * database already has them in its index. In an older one, filters are slower until the update.
 */
function isUsualIndex({ indexedFields, indexSyncMode }: ContextConfig): boolean {
  const usual = contextSlice.fields.indexedFields.default;
  return isDeepStrictEqual(indexedFields, usual) && (indexSyncMode === 'auto' || indexSyncMode === 'additive');
}

/** Returns the provider, set to embed long texts in parts or, without chunking, whole. */
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
