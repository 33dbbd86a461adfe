import { version } from '../../base/package-info.ts';
import type { Metric } from '../registry.ts';

export type Attributes = Readonly<Record<string, string>>;

/** A span in OTLP's JSON form: ids in hex, times as decimal text. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Attributes;
  readonly status: { readonly code?: number };
}

const scope = { name: 'carrel', version };

/** Returns the JSON form of `ExportTraceServiceRequest`. */
export function tracesPayload(spans: readonly Span[], resource: Attributes): object {
  const spansJson = spans.map((span) => ({ ...span, attributes: keyValues(span.attributes) }));
  return {
    resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans: spansJson }] }],
  };
}

/** Returns the JSON form of `ExportMetricsServiceRequest`. All counters start at process start. */
export function metricsPayload(metrics: readonly Metric[], resource: Attributes, now: number): object {
  const times = { startTimeUnixNano: nanoseconds(performance.timeOrigin), timeUnixNano: nanoseconds(now) };
  const metricsJson = metrics.flatMap((metric) => {
    const { name, help, unit } = metric.descriptor;
    const data = dataOf(metric, times);
    return data === undefined ? [] : [{ name, description: help, unit: unit ?? '1', ...data }];
  });
  return {
    resourceMetrics: [
      { resource: { attributes: keyValues(resource) }, scopeMetrics: [{ scope, metrics: metricsJson }] },
    ],
  };
}

const cumulative = 2;

function dataOf(metric: Metric, times: { startTimeUnixNano: string; timeUnixNano: string }): object | undefined {
  if (metric.kind === 'histogram') {
    const dataPoints = metric.distributions.map(({ labels, count, sum, counts }) => ({
      ...times,
      attributes: keyValues(labels),
      count: String(count),
      sum,
      bucketCounts: counts.map(String),
      explicitBounds: metric.bounds,
    }));
    return dataPoints.length === 0 ? undefined : { histogram: { dataPoints, aggregationTemporality: cumulative } };
  }
  const dataPoints = metric.points.map(({ labels, value }) => ({
    ...times,
    attributes: keyValues(labels),
    asDouble: value,
  }));
  if (dataPoints.length === 0) return undefined;
  return metric.kind === 'gauge'
    ? { gauge: { dataPoints } }
    : { sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } };
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/** Converts milliseconds to nanoseconds, as text because a number can't hold that many digits. */
export function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}
