import type { Labels, Metric, MetricFacts, Registry } from './registry.ts';

/** Formats all metrics in Prometheus's text format. */
export function prometheusText(registry: Registry): string {
  return registry.collect().map(textOf).join('');
}

const units = { s: '_seconds', By: '_bytes' } as const;

/** Converts a name like OpenTelemetry does for Prometheus: underscores for dots, then the unit, then `_total` for counters. */
export function prometheusName({ name, unit, prometheusName: own }: MetricFacts, kind: Metric['kind']): string {
  if (own !== undefined) return own;
  return `${underscored(name)}${unit === undefined ? '' : units[unit]}${kind === 'counter' ? '_total' : ''}`;
}

function textOf(metric: Metric): string {
  const { facts, kind } = metric;
  const name = prometheusName(facts, kind);
  const lines =
    metric.kind === 'histogram'
      ? metric.distributions.flatMap((each) => {
          let below = 0;
          const buckets = each.counts.map((count, index) => {
            below += count;
            const bound = metric.bounds[index];
            return line(`${name}_bucket`, { ...each.labels, le: bound === undefined ? '+Inf' : String(bound) }, below);
          });
          return [
            ...buckets,
            line(`${name}_sum`, each.labels, each.sum),
            line(`${name}_count`, each.labels, each.count),
          ];
        })
      : metric.points.map(({ labels, value }) => line(name, labels, value));
  return [`# HELP ${name} ${facts.help}`, `# TYPE ${name} ${kind}`, ...lines, ''].join('\n');
}

function line(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${underscored(label)}="${escaped(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function underscored(name: string): string {
  return name.replaceAll('.', '_');
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
