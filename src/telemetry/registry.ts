export type Labels = Readonly<Record<string, string>>;

export interface MetricDescriptor {
  /** The name in OpenTelemetry's form, with dots. prometheus-text.ts converts it. */
  readonly name: string;
  readonly help: string;
  readonly unit?: 's' | 'By';
  /** The established Prometheus name, if there is one. */
  readonly prometheusName?: string;
}

export interface Point {
  readonly labels: Labels;
  readonly value: number;
}

export interface Distribution {
  readonly labels: Labels;
  readonly count: number;
  readonly sum: number;
  /** Number of values in each bucket: one bucket up to each bound, and one above the last. */
  readonly counts: readonly number[];
}

export type Metric = { readonly descriptor: MetricDescriptor } & (
  | { readonly kind: 'counter' | 'gauge'; readonly points: readonly Point[] }
  | { readonly kind: 'histogram'; readonly bounds: readonly number[]; readonly distributions: readonly Distribution[] }
);

export type Registry = ReturnType<typeof createRegistry>;

/** Max label sets per metric. Further ones are counted together, under OpenTelemetry's overflow label. */
const seriesMax = 500;
const overflow: Labels = { 'otel.metric.overflow': 'true' };

/** Creates the metrics of this process, for Prometheus and OpenTelemetry. */
export function createRegistry() {
  const metrics: (() => Metric)[] = [];
  return {
    counter(descriptor: MetricDescriptor) {
      const series = createSeries((labels) => ({ labels, value: 0 }));
      metrics.push(() => ({ descriptor, kind: 'counter', points: series.all() }));
      return {
        add(labels: Labels, value = 1): void {
          series.of(labels).value += value;
        },
      };
    },
    histogram(descriptor: MetricDescriptor, bounds: readonly number[]) {
      const series = createSeries((labels) => ({
        labels,
        count: 0,
        sum: 0,
        counts: Array.from({ length: bounds.length + 1 }, () => 0),
      }));
      metrics.push(() => ({ descriptor, kind: 'histogram', bounds, distributions: series.all() }));
      return {
        record(labels: Labels, value: number): void {
          const distribution = series.of(labels);
          distribution.count += 1;
          distribution.sum += value;
          const bucket = bounds.findIndex((bound) => value <= bound);
          const index = bucket === -1 ? bounds.length : bucket;
          distribution.counts[index] = (distribution.counts[index] ?? 0) + 1;
        },
      };
    },
    /** `read` is called on every scrape and export, so it must be quick. */
    watch(kind: 'counter' | 'gauge', descriptor: MetricDescriptor, read: () => readonly Point[]): void {
      metrics.push(() => ({ descriptor, kind, points: read() }));
    },
    collect: (): Metric[] => metrics.map((metric) => metric()),
  };
}

function createSeries<Value>(create: (labels: Labels) => Value) {
  const byLabels = new Map<string, Value>();
  const of = (labels: Labels): Value => {
    const key = JSON.stringify(labels);
    const existing = byLabels.get(key);
    if (existing !== undefined) return existing;
    if (byLabels.size >= seriesMax && labels !== overflow) return of(overflow);
    const created = create(labels);
    byLabels.set(key, created);
    return created;
  };
  return { of, all: (): Value[] => [...byLabels.values()] };
}
