import { median } from '../statistics.ts';
import { type Case, groups, type ServerName } from './cases.ts';
import type { Round } from './load.ts';
import type { StartUp } from './start-up.ts';

export interface CaseResult {
  case: Case;
  rounds: Round[];
  residentFirst: number;
  residentLast: number;
}

export interface StartUpResult {
  server: string;
  runs: StartUp[];
}

export interface TargetResult {
  target: string;
  measured: string;
  isReached: boolean;
}

/** Targets: max CPU time per request relative to the SDK, and max extra start-up time. */
const ratios = { [groups.json]: 0.3, [groups.modern]: 0.5, [groups.stdio]: 0.85, [groups.stdioModern]: 0.85 };
const startUpExtraMs = 110;

export function loadTable(results: readonly CaseResult[]): string {
  const header = ['', 'CPU µs/req', 'best', '× SDK v2', 'best', 'req/s', 'best', 'p50 ms', 'p99 ms', 'RSS MB'];
  const rows = results.map((result) => {
    const cpu = result.rounds.map((round) => round.cpuMicroseconds);
    const perSecond = result.rounds.map((round) => round.perSecond);
    const ratio = ratioToSdk(results, result.case.group, result.case.server);
    return [
      `${result.case.group}: ${result.case.server}`,
      median(cpu).toFixed(0),
      Math.min(...cpu).toFixed(0),
      ratio.median.toFixed(2),
      ratio.best.toFixed(2),
      median(perSecond).toFixed(0),
      Math.max(...perSecond).toFixed(0),
      median(result.rounds.map((round) => round.p50Ms)).toFixed(3),
      median(result.rounds.map((round) => round.p99Ms)).toFixed(2),
      `${result.residentFirst.toFixed(0)} → ${result.residentLast.toFixed(0)}`,
    ];
  });
  return formatTable(header, rows);
}

export function startUpTable(results: readonly StartUpResult[]): string {
  const rows = results.map(({ server, runs }) => {
    const ms = runs.map((run) => run.initializeMs);
    const listMs = runs.map((run) => run.listMs);
    const cpuMs = runs.map((run) => run.cpuMs);
    const resident = median(runs.map((run) => run.residentMegabytes));
    const values = [Math.min(...ms), median(ms), median(listMs), Math.min(...cpuMs), resident];
    return [server, ...values.map((value) => value.toFixed(0))];
  });
  const header = [
    'start-up to the first answer, stdio',
    'min ms',
    'median ms',
    'to tools/list',
    'best CPU ms',
    'RSS MB',
  ];
  return formatTable(header, rows);
}

export function checkTargets(
  results: readonly CaseResult[],
  product: StartUpResult,
  sdk: StartUpResult,
): TargetResult[] {
  const carrelMs = median(product.runs.map((run) => run.initializeMs));
  const maxMs = median(sdk.runs.map((run) => run.initializeMs)) + startUpExtraMs;
  const ratioResults = Object.entries(ratios).map(([group, ratio]) => {
    const measured = ratioToSdk(results, group, 'Carrel').median;
    return {
      target: `${group}: CPU per request ≤ ${ratio} × SDK v2`,
      measured: `${measured.toFixed(2)} ×`,
      isReached: measured <= ratio,
    };
  });
  return [
    ...ratioResults,
    {
      target: `start-up ≤ bundled SDK v2 + ${startUpExtraMs} ms`,
      measured: `${carrelMs.toFixed(0)} ms against ${maxMs.toFixed(0)} ms`,
      isReached: carrelMs <= maxMs,
    },
  ];
}

/** Returns the CPU time relative to the SDK: the median ratio of all rounds, and the ratio of the best rounds. */
function ratioToSdk(
  results: readonly CaseResult[],
  group: string,
  server: ServerName,
): { median: number; best: number } {
  const cpu = (name: ServerName): number[] =>
    results
      .find(({ case: each }) => each.group === group && each.server === name)
      ?.rounds.map((round) => round.cpuMicroseconds) ?? [];
  const serverCpu = cpu(server);
  const sdk = cpu('SDK v2');
  return {
    median: median(serverCpu.map((value, round) => value / (sdk[round] ?? Number.NaN))),
    best: Math.min(...serverCpu) / Math.min(...sdk),
  };
}

function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}
