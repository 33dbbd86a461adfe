export type Labels = Readonly<Record<string, string>>;

export interface MetricFacts {
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

export type Metric = { readonly facts: MetricFacts } & (
  | { readonly kind: 'counter' | 'gauge'; readonly points: readonly Point[] }
  | { readonly kind: 'histogram'; readonly bounds: readonly number[]; readonly distributions: readonly Distribution[] }
);

export interface Counter {
  add(labels: Labels, value?: number): void;
}

export interface Histogram {
  record(labels: Labels, value: number): void;
}

/** The metrics of this process, for Prometheus and OpenTelemetry. */
export interface Registry {
  counter(facts: MetricFacts): Counter;
  histogram(facts: MetricFacts, bounds: readonly number[]): Histogram;
  /** `read` is called on every scrape and export, so it must be quick. */
  watch(kind: 'counter' | 'gauge', facts: MetricFacts, read: () => readonly Point[]): void;
  collect(): Metric[];
}

/** Max label sets per metric. Further ones are counted together, under OpenTelemetry's overflow label. */
const seriesMax = 500;
const overflow: Labels = { 'otel.metric.overflow': 'true' };

export function createRegistry(): Registry {
  const metrics: (() => Metric)[] = [];
  return {
    counter(facts) {
      const series = createSeries((labels) => ({ labels, value: 0 }));
      metrics.push(() => ({ facts, kind: 'counter', points: series.all() }));
      return {
        add(labels, value = 1) {
          series.of(labels).value += value;
        },
      };
    },
    histogram(facts, bounds) {
      const series = createSeries((labels) => ({
        labels,
        count: 0,
        sum: 0,
        counts: Array.from({ length: bounds.length + 1 }, () => 0),
      }));
      metrics.push(() => ({ facts, kind: 'histogram', bounds, distributions: series.all() }));
      return {
        record(labels, value) {
          const one = series.of(labels);
          one.count += 1;
          one.sum += value;
          const found = bounds.findIndex((bound) => value <= bound);
          const index = found === -1 ? bounds.length : found;
          one.counts[index] = (one.counts[index] ?? 0) + 1;
        },
      };
    },
    watch(kind, facts, read) {
      metrics.push(() => ({ facts, kind, points: read() }));
    },
    collect: () => metrics.map((metric) => metric()),
  };
}

function createSeries<Value>(create: (labels: Labels) => Value) {
  const known = new Map<string, Value>();
  const of = (labels: Labels): Value => {
    const key = JSON.stringify(labels);
    const there = known.get(key);
    if (there !== undefined) return there;
    if (known.size >= seriesMax && labels !== overflow) return of(overflow);
    const made = create(labels);
    known.set(key, made);
    return made;
  };
  return { of, all: (): Value[] => [...known.values()] };
}
