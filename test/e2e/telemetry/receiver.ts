import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Owner } from '../../fakes/loopback-server.ts';

export interface Family {
  name: string;
  type: string;
  samples: [string, Record<string, string>, number][];
}

/** One request of an exporter, in OpenTelemetry's own message format. */
export interface Export<Content> {
  kind: string;
  key: string | null;
  content: Content;
}

interface Attribute {
  key: string;
  value: { stringValue: string };
}

interface Traces {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: Attribute[] })[] }[];
  }[];
}

interface Metrics {
  resourceMetrics: { scopeMetrics: { metrics: ReceivedMetric[] }[] }[];
}

export interface ReceivedSpan {
  name: string;
  kind: string;
  traceId: string;
  parentSpanId?: string;
  traceState?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status?: { code?: string };
  attributes: Record<string, string>;
}

export interface Receiver {
  readonly url: string;
  /** Waits for this many spans. */
  spans(count: number): Promise<{ exports: Export<Traces>[]; spans: ReceivedSpan[]; resource: Record<string, string> }>;
  metrics(count: number): Promise<{ metrics: Map<string, ReceivedMetric> }>;
  parse(text: string): Promise<Map<string, Family>>;
}

export interface ReceivedMetric {
  name: string;
  unit?: string;
  sum?: { aggregationTemporality: string; isMonotonic: boolean };
  gauge?: object;
  histogram?: {
    dataPoints: { attributes: object[]; count: string; bucketCounts: string[]; explicitBounds: number[] }[];
  };
}

/** A real receiver in a separate process, which ends with its owner. */
export async function startReceiver(t: Owner, python: string): Promise<Receiver> {
  const child = spawn(python, [join(import.meta.dirname, 'receiver.py')], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => void child.kill());
  const [port] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${String(port).trim()}`;
  const get = async <Content>(path: string): Promise<Export<Content>[]> =>
    (await (await fetch(`${url}${path}`)).json()) as Export<Content>[];
  return {
    url,
    async spans(count) {
      const exports = await get<Traces>(`/spans?count=${count}`);
      const resources = exports.flatMap(({ content }) => content.resourceSpans);
      const spans = resources.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      return {
        exports,
        spans: spans.map((span) => ({ ...span, attributes: attributesOf(span.attributes) })),
        resource: attributesOf(resources[0]?.resource.attributes ?? []),
      };
    },
    async metrics(count) {
      const exports = await get<Metrics>(`/metrics?count=${count}`);
      const metrics = exports.at(-1)?.content.resourceMetrics[0]?.scopeMetrics[0]?.metrics ?? [];
      return { metrics: new Map(metrics.map((metric) => [metric.name, metric])) };
    },
    async parse(text) {
      const families = (await (await fetch(`${url}/parse`, { method: 'POST', body: text })).json()) as Family[];
      return new Map(families.map((family) => [family.name, family]));
    },
  };
}

function attributesOf(attributes: Attribute[]): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
}
