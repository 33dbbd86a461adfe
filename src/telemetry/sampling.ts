import type { Labels, MetricDescriptor, Point, Registry } from './registry.ts';

/** Metrics that need a query to a database or server, so they are not read on every scrape. */
const sampledMetrics = {
  jobs: { name: 'carrel.ingestion.jobs', help: 'Knowledge base jobs by state.' },
  unembedded: { name: 'carrel.unembedded', help: 'Texts that wait for vectors and are found by keyword only.' },
  documents: { name: 'carrel.documents', help: 'Documents in the knowledge base.' },
  passages: { name: 'carrel.passages', help: 'Passages in the knowledge base.' },
  roles: { name: 'carrel.engine.role', help: 'Whether the engine of this process has the role (KB_ROLES).' },
  storageBytes: { name: 'carrel.storage.size', unit: 'By', help: 'Database size.' },
  replicaLag: { name: 'carrel.replica.lag', unit: 'By', help: 'Lag of the read replica behind the primary.' },
  backgroundFailures: {
    name: 'carrel.background.failures',
    help: "Failed attempts of the database's background work since the start, by step.",
  },
  replicaReads: {
    name: 'carrel.replica.reads',
    help: 'Replica-eligible reads since the start, by the server that answered.',
  },
} as const satisfies Record<string, MetricDescriptor>;

/** Metrics that only grow. */
const counters: ReadonlySet<string> = new Set<keyof typeof sampledMetrics>(['backgroundFailures', 'replicaReads']);

export interface Measurement {
  readonly metric: keyof typeof sampledMetrics;
  readonly labels: Labels;
  readonly value: number;
}

/** A source of sampled metrics, such as a database. */
export interface MeasuredSource {
  readonly name: string;
  measure(): Promise<readonly Measurement[]>;
}

export type Sampling = ReturnType<typeof startSampling>;

export interface SamplingOptions {
  /** Max age of figures, in milliseconds, before they are read again. */
  readonly everyMs?: number;
  readonly waitMs?: number;
}

export function startSampling(
  registry: Registry,
  sources: readonly MeasuredSource[],
  { everyMs = 10_000, waitMs = 1_000 }: SamplingOptions = {},
) {
  const latest = new Map<MeasuredSource, readonly Measurement[]>();
  let sampledAt = Number.NEGATIVE_INFINITY;
  let sampling: Promise<unknown> | undefined;

  for (const [metric, descriptor] of Object.entries(sampledMetrics)) {
    registry.watch(counters.has(metric) ? 'counter' : 'gauge', descriptor, () => {
      const points = [...latest.values()].flat().filter((each) => each.metric === metric);
      // Two toolsets may report the same database.
      return [...new Map(points.map((each): [string, Point] => [JSON.stringify(each.labels), each])).values()];
    });
  }
  registry.watch('gauge', { name: 'carrel.source.up', help: 'Whether the last sample succeeded.' }, () =>
    sources.map((source) => ({ labels: { source: source.name }, value: latest.has(source) ? 1 : 0 })),
  );

  const sample = async (): Promise<void> => {
    sampledAt = performance.now();
    await Promise.all(
      sources.map(async (source) => {
        try {
          latest.set(source, await source.measure());
        } catch {
          // Removed, because old figures would look current.
          latest.delete(source);
        }
      }),
    );
    sampling = undefined;
  };

  return {
    /** Reads new figures unless the last ones are recent. Waits at most `waitMs`; until they arrive, the last ones stay. */
    async refresh(): Promise<void> {
      // Only one read runs at a time.
      if (sampling === undefined && performance.now() - sampledAt >= everyMs) sampling = sample();
      if (sampling === undefined) return;
      const { promise: tooLong, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      await Promise.race([sampling, tooLong]);
      clearTimeout(timer);
    },
  };
}
