import { timingsOf } from '../speed/timings.ts';
import { median } from '../statistics.ts';
import type { ScaleFigures } from './scale.ts';

/** Formats a table with one row per number of processes, from the medians of its rounds. */
export function scaleTable(figures: readonly ScaleFigures[], cores: number): string {
  const groups = [...Map.groupBy(figures, ({ processes }) => processes)];
  const rate = ({ calls, seconds }: ScaleFigures) => calls / seconds;
  const first = median((groups[0]?.[1] ?? []).map(rate));
  const rows = groups.map(([processes, rounds]) => {
    const medianOf = (value: (round: ScaleFigures) => number): number => median(rounds.map(value));
    const coresUsed = medianOf(
      (round) => ((round.cpuMs.servers + round.cpuMs.database + round.cpuMs.clients) * rate(round)) / 1000,
    );
    return [
      String(processes),
      medianOf(rate).toFixed(0),
      (medianOf(rate) / first).toFixed(2),
      ...(['servers', 'database', 'clients'] as const).map((part) => medianOf(({ cpuMs }) => cpuMs[part]).toFixed(2)),
      `${coresUsed.toFixed(2)} of ${cores}`,
      `${sum(rounds, ({ written: { entry, note, document } }) => entry + note + document)}, ${sum(rounds, ({ reads }) => reads)}`,
      String(sum(rounds, ({ retries }) => retries)),
      String(sum(rounds, ({ faults }) => faults.length)),
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
  const groups = [...Map.groupBy(figures, ({ processes }) => processes)];
  const tools = [...new Set(figures.flatMap(({ times }) => [...times.keys()]))].sort();
  const formatTimes = (rounds: readonly ScaleFigures[], tool: string): string => {
    const { p50, p99 } = timingsOf(rounds.flatMap(({ times }) => times.get(tool) ?? []));
    return `${p50.toFixed(0)} / ${p99.toFixed(0)}`;
  };
  return table(
    ['p50 / p99 in ms', ...groups.map(([processes]) => `${processes}`)],
    tools.map((tool) => [tool, ...groups.map(([, rounds]) => formatTimes(rounds, tool))]),
  );
}

function sum(figures: readonly ScaleFigures[], value: (round: ScaleFigures) => number): number {
  return figures.reduce((total, round) => total + value(round), 0);
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `${[line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}
