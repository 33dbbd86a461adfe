import { timingsOf } from '../speed/timings.ts';
import { median } from '../statistics.ts';
import type { ScaleFigures } from './scale.ts';

/** Formats a table with one row per number of processes, from the medians of its rounds. */
export function scaleTable(figures: readonly ScaleFigures[], cores: number): string {
  const rounds = [...Map.groupBy(figures, ({ processes }) => processes)];
  const rate = ({ calls, seconds }: ScaleFigures) => calls / seconds;
  const first = median((rounds[0]?.[1] ?? []).map(rate));
  const rows = rounds.map(([processes, each]) => {
    const medianOf = (value: (one: ScaleFigures) => number): number => median(each.map(value));
    const used = medianOf((one) => ((one.cpuMs.servers + one.cpuMs.database + one.cpuMs.clients) * rate(one)) / 1000);
    return [
      String(processes),
      medianOf(rate).toFixed(0),
      (medianOf(rate) / first).toFixed(2),
      ...(['servers', 'database', 'clients'] as const).map((part) => medianOf(({ cpuMs }) => cpuMs[part]).toFixed(2)),
      `${used.toFixed(2)} of ${cores}`,
      `${sum(each, ({ written: { entry, note, document } }) => entry + note + document)}, ${sum(each, ({ reads }) => reads)}`,
      String(sum(each, ({ retries }) => retries)),
      String(sum(each, ({ faults }) => faults.length)),
    ];
  });
  return table(
    [
      ...['processes', 'calls/s', '× one process', 'CPU ms/call: servers', 'database', 'clients and balancer'],
      ...['cores used', 'writes, reads checked', 'retries', 'wrong answers'],
    ],
    rows,
  );
}

/** Formats a table of p50 / p99 of each tool. */
export function timesTable(figures: readonly ScaleFigures[]): string {
  const rounds = [...Map.groupBy(figures, ({ processes }) => processes)];
  const tools = [...new Set(figures.flatMap(({ times }) => [...times.keys()]))].sort();
  const formatTimes = (each: readonly ScaleFigures[], tool: string): string => {
    const { p50, p99 } = timingsOf(each.flatMap(({ times }) => times.get(tool) ?? []));
    return `${p50.toFixed(0)} / ${p99.toFixed(0)}`;
  };
  return table(
    ['p50 / p99 in ms', ...rounds.map(([processes]) => `${processes}`)],
    tools.map((tool) => [tool, ...rounds.map(([, each]) => formatTimes(each, tool))]),
  );
}

function sum(figures: readonly ScaleFigures[], value: (one: ScaleFigures) => number): number {
  return figures.reduce((total, one) => total + value(one), 0);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `${[line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}
