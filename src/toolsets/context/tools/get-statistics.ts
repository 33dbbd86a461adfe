import * as z from 'zod';
import type { Reranker } from '../../../search/rerank/reranker.ts';
import type { Storage } from '../../../storage/storage.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import { currentLanguage } from '../../../words/language.ts';
import type { ContextParts } from '../context-parts.ts';

interface StatisticsSettings {
  readonly words: boolean;
  /** Undefined if texts are embedded whole. */
  readonly chunkChars: number | undefined;
  readonly summaryCharsMin: number;
}

export function createGetStatisticsTool(
  settings: StatisticsSettings,
  deps: Pick<ContextParts, 'entries' | 'meaning' | 'summaries' | 'backend' | 'reranker'> & {
    /** Undefined for callers with restricted rights. */
    storage: Pick<Storage, 'describe' | 'metrics' | 'connections'> | undefined;
  },
): Tool {
  const { entries, meaning, summaries, backend } = deps;
  return defineTool({
    name: 'get_statistics',
    title: 'Get Statistics',
    description: 'Reports counts of memory entries, threads, tags and images, and which search modes are available.',
    effect: 'read',
    input: z.object({}),
    output: looseOutput(
      'total_entries, by_source, by_content_type, total_images, unique_tags, total_threads, avg_entries_per_thread, most_active_threads, top_tags, backend, database_size_mb, connection_metrics, semantic_search, fts, chunking, reranking, summary',
    ),
    async run(_input, { signal }) {
      const counts = await entries.statistics({ model: meaning?.model }, { signal });
      // Sequential, because a parallel query would need another connection.
      const database = deps.storage && (await describeDatabase(deps.storage, backend));
      const coverage = (count: number) => (counts.total === 0 ? 0 : twoDecimals((100 * count) / counts.total));
      return {
        total_entries: counts.total,
        by_source: { ...counts.bySource },
        by_content_type: { ...counts.byContentType },
        total_images: counts.images,
        unique_tags: counts.uniqueTags,
        total_threads: counts.threads,
        avg_entries_per_thread: counts.threads === 0 ? 0 : twoDecimals(counts.total / counts.threads),
        most_active_threads: counts.mostActive.map(({ threadId, count }) => ({ thread_id: threadId, count })),
        top_tags: counts.topTags.map((tag) => ({ ...tag })),
        backend,
        ...database,
        semantic_search:
          meaning === undefined
            ? { enabled: false, available: false }
            : {
                enabled: true,
                available: meaning.available,
                backend,
                model: meaning.model,
                dimensions: meaning.dimensions ?? null,
                context_count: counts.embedded,
                embedding_count: counts.vectors,
                average_chunks_per_entry: counts.embedded === 0 ? 0 : twoDecimals(counts.vectors / counts.embedded),
                coverage_percentage: coverage(counts.embedded),
                pending_count: counts.total - counts.embedded,
                ...(meaning.available
                  ? {}
                  : { message: 'The embedding provider does not respond; entries are waiting to be embedded.' }),
              },
        fts: settings.words
          ? {
              enabled: true,
              available: true,
              language: currentLanguage(),
              backend,
              engine: backend === 'sqlite' ? 'fts5' : 'tsvector',
              indexed_entries: counts.indexed,
              coverage_percentage: coverage(counts.indexed),
            }
          : { enabled: false, available: false },
        chunking: {
          enabled: meaning !== undefined && settings.chunkChars !== undefined,
          available: meaning !== undefined && settings.chunkChars !== undefined,
          chunk_size: settings.chunkChars ?? null,
          chunk_overlap: 0,
          aggregation: 'max',
        },
        reranking: rerankingOf(deps.reranker),
        summary: {
          enabled: summaries !== undefined,
          available: summaries?.available ?? false,
          provider: summaries?.provider.name ?? null,
          model: summaries?.provider.model ?? null,
          summary_count: counts.summaries,
          coverage_percentage: coverage(counts.summaries),
          min_content_length: settings.summaryCharsMin,
        },
      };
    },
  });
}

async function describeDatabase(
  storage: Pick<Storage, 'describe' | 'metrics' | 'connections'>,
  backend: ContextParts['backend'],
) {
  const { bytes, version, schema } = await storage.describe();
  const { calls, failures, consecutiveFailures, lastFailure } = storage.metrics;
  return {
    database_size_mb: twoDecimals(bytes / 1024 / 1024),
    connection_metrics: {
      backend_type: backend,
      engine_version: version,
      schema_version: schema,
      ...connectionCounts(storage),
      total_queries: calls,
      failed_queries: failures,
      circuit_state: circuitState(consecutiveFailures),
      consecutive_failures: consecutiveFailures,
      last_error: lastFailure?.code ?? null,
      last_error_time: lastFailure?.time ?? null,
    },
  };
}

/** Min consecutive failures for the `circuit_state` `failed`. Unlike mcp-context-server, Carrel keeps querying the database. */
const failedCountMin = 10;

function circuitState(consecutiveFailures: number): string {
  if (consecutiveFailures === 0) return 'healthy';
  return consecutiveFailures < failedCountMin ? 'degraded' : 'failed';
}

/** Returns the fields that mcp-context-server reports for each kind of database. */
function connectionCounts({ connections, metrics }: Pick<Storage, 'connections' | 'metrics'>) {
  const counts = connections();
  if (counts.backend === 'postgres') {
    return { pool_size: counts.open, pool_idle: counts.idle, pool_min_size: 0, pool_max_size: counts.max };
  }
  return {
    total_connections: counts.opened,
    active_connections: metrics.running,
    failed_connections: counts.broken,
    // Only one write runs at a time; the others are queued.
    write_queue_size: Math.max(0, metrics.writing - 1),
  };
}

function twoDecimals(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Describes the reranking provider, whose name is `kind:model`. */
function rerankingOf({ provider }: Reranker) {
  const [, kind = null, model = null] = /^([^:]+):(.*)$/.exec(provider?.name ?? '') ?? [];
  return { enabled: provider !== undefined, available: provider !== undefined, provider: kind, model };
}
