import type { Logger } from '../base/log.ts';
import type { OtlpTarget } from './otlp/target.ts';
import { watchProcess } from './process-metrics.ts';
import { prometheusText } from './prometheus-text.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createRegistry, type Point } from './registry.ts';
import { type MeasuredSource, type Sampling, startSampling } from './sampling.ts';

/** Metrics and traces of one process. */
export interface Telemetry {
  readonly recorder: Recorder;
  /** Starts to measure these sources and gauges. */
  watch(targets: { sources: readonly MeasuredSource[]; gauges?: Gauges }): void;
  /** Returns all metrics in Prometheus's text format. */
  prometheus(): Promise<string>;
  close(): Promise<void>;
}

/** Current values, read on every scrape and export. */
export interface Gauges {
  sessions?(): number;
  connections(): number;
}

/** Max time for the last export at shutdown. The whole shutdown may take five seconds, three of them for running calls. */
const flushMs = 1_000;

/** Starts to record and, if there is a target, to export. */
export async function openTelemetry(
  role: string,
  target: OtlpTarget | undefined,
  { log }: { log: Logger },
): Promise<Telemetry> {
  const registry = createRegistry();
  const recorder = createRecorder(registry);
  const processMetrics = watchProcess(registry, role);
  let sampling: Sampling | undefined;
  const refresh = async (): Promise<void> => sampling?.refresh();
  const exporter = target && (await startExporter(target));

  async function startExporter(to: OtlpTarget) {
    const [{ createOtlpExporter }, { spanOf }] = await Promise.all([
      import('./otlp/exporter.ts'),
      import('./otlp/spans.ts'),
    ]);
    const started = createOtlpExporter(to, { registry, refresh, log });
    if (to.sendsSpans) {
      recorder.onOperation((operation) => {
        const span = spanOf(operation, to.sampler);
        if (span !== undefined) started.span(span);
      });
    }
    return started;
  }

  return {
    recorder,
    watch({ sources, gauges }) {
      sampling = startSampling(registry, sources);
      const pointOf = (value: number): Point[] => [{ labels: {}, value }];
      const { sessions, connections } = gauges ?? {};
      if (sessions)
        registry.watch('gauge', { name: 'carrel.sessions', help: 'Open sessions.' }, () => pointOf(sessions()));
      if (connections) {
        const descriptor = { name: 'carrel.http.connections', help: 'Open connections.' };
        registry.watch('gauge', descriptor, () => pointOf(connections()));
      }
    },
    async prometheus() {
      await refresh();
      return prometheusText(registry);
    },
    async close() {
      processMetrics.close();
      await exporter?.close(flushMs);
    },
  };
}
