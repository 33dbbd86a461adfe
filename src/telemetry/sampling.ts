import type { Labels, MetricFacts, Point, Registry } from './registry.ts';

/** What has to be asked of a database or another server, so not on every look. */
const sampled = {
  jobs: { name: 'carrel.ingestion.jobs', help: 'Files and notes of the knowledge base, by the state of their job.' },
  unembedded: { name: 'carrel.unembedded', help: 'Texts that are found by their words only, until they have vectors.' },
  documents: { name: 'carrel.documents', help: 'Documents of the knowledge base.' },
  passages: { name: 'carrel.passages', help: 'Passages of the knowledge base.' },
  roles: { name: 'carrel.engine.role', help: 'Whether the engine of this process has the role (KB_ROLES).' },
  storageBytes: { name: 'carrel.storage.size', unit: 'By', help: 'Size of the database.' },
  replicaLag: { name: 'carrel.replica.lag', unit: 'By', help: 'How far the read replica is behind the primary.' },
  backgroundFailures: {
    name: 'carrel.background.failures',
    help: 'Failed attempts of background work of the database since the start, by step.',
  },
  replicaReads: {
    name: 'carrel.replica.reads',
    help: 'Reads that the replica may answer since the start, by who did.',
  },
} as const satisfies Record<string, MetricFacts>;

/** What only grows. */
const counters: ReadonlySet<string> = new Set<keyof typeof sampled>(['backgroundFailures', 'replicaReads']);

export interface Measurement {
  readonly metric: keyof typeof sampled;
  readonly labels: Labels;
  readonly value: number;
}

/** Something whose figures are asked for now and then. */
export interface MeasuredSource {
  readonly name: string;
  measure(): Promise<readonly Measurement[]>;
}

export interface Sampling {
  /** Asks, unless that was done a moment ago. Waits no longer than it may: then the last figures stand. */
  refresh(): Promise<void>;
}

export interface SamplingOptions {
  /** Figures are at most this old when somebody looks again. */
  readonly everyMs?: number;
  readonly waitMs?: number;
}

export function startSampling(
  registry: Registry,
  sources: readonly MeasuredSource[],
  { everyMs = 10_000, waitMs = 1_000 }: SamplingOptions = {},
): Sampling {
  const latest = new Map<MeasuredSource, readonly Measurement[]>();
  let askedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<unknown> | undefined;

  for (const [metric, facts] of Object.entries(sampled)) {
    registry.watch(counters.has(metric) ? 'counter' : 'gauge', facts, () => {
      const own = [...latest.values()].flat().filter((each) => each.metric === metric);
      // Two toolsets may tell of the same database.
      return [...new Map(own.map((each): [string, Point] => [JSON.stringify(each.labels), each])).values()];
    });
  }
  registry.watch('gauge', { name: 'carrel.source.up', help: 'Whether its figures could be read just now.' }, () =>
    sources.map((source) => ({ labels: { source: source.name }, value: latest.has(source) ? 1 : 0 })),
  );

  const ask = async (): Promise<void> => {
    askedAt = performance.now();
    await Promise.all(
      sources.map(async (source) => {
        try {
          latest.set(source, await source.measure());
        } catch {
          // Figures of something that no longer answers would pass for current ones.
          latest.delete(source);
        }
      }),
    );
    asking = undefined;
  };

  return {
    async refresh() {
      // One that does not answer is not asked again before it has.
      if (asking === undefined && performance.now() - askedAt >= everyMs) asking = ask();
      if (asking === undefined) return;
      const { promise: tooLong, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, waitMs);
      await Promise.race([asking, tooLong]);
      clearTimeout(timer);
    },
  };
}
