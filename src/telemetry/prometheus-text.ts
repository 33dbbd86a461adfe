import type { Labels, Metric, MetricDescriptor, Registry } from './registry.ts';

/** Formats all metrics in Prometheus's text format. */
export function prometheusText(registry: Registry): string {
  return registry.collect().map(textOf).join('');
}

const units = { s: '_seconds', By: '_bytes' } as const;

/** Converts a name as OpenTelemetry does for Prometheus: underscores for dots, then the unit, then `_total` for counters. */
export function prometheusName(
  { name, unit, prometheusName: establishedName }: MetricDescriptor,
  kind: Metric['kind'],
): string {
  if (establishedName !== undefined) return establishedName;
  return `${withUnderscores(name)}${unit === undefined ? '' : units[unit]}${kind === 'counter' ? '_total' : ''}`;
}

function textOf(metric: Metric): string {
  const { descriptor, kind } = metric;
  const name = prometheusName(descriptor, kind);
  const lines =
    metric.kind === 'histogram'
      ? metric.distributions.flatMap((each) => {
          let cumulativeCount = 0;
          const buckets = each.counts.map((count, index) => {
            cumulativeCount += count;
            const bound = metric.bounds[index];
            return line(
              `${name}_bucket`,
              { ...each.labels, le: bound === undefined ? '+Inf' : String(bound) },
              cumulativeCount,
            );
          });
          return [
            ...buckets,
            line(`${name}_sum`, each.labels, each.sum),
            line(`${name}_count`, each.labels, each.count),
          ];
        })
      : metric.points.map(({ labels, value }) => line(name, labels, value));
  return [`# HELP ${name} ${descriptor.help}`, `# TYPE ${name} ${kind}`, ...lines, ''].join('\n');
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${withUnderscores(label)}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function withUnderscores(name: string): string {
  return name.replaceAll('.', '_');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
