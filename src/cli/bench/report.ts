export interface BenchReport {
  readonly version: string;
  readonly node: string;
  readonly machine: string;
  /** The embedding model; null if there is none. */
  readonly model: string | null;
  readonly documents: number;
  readonly passages: number;
  readonly bytes: number;
  /** Time from process start to the tool list: of the first start, and the median of later ones. */
  readonly startMs: { readonly first: number; readonly later: number };
  /** Time until keyword search found everything, and time until everything was embedded. */
  readonly ingest: { readonly wordsMs: number; readonly wholeMs: number };
  readonly search: { readonly words: Latency; readonly meaning?: Latency; readonly both: Latency };
}

export interface Latency {
  readonly p50Ms: number;
  readonly p95Ms: number;
}

/** Returns the nearest-rank percentile. `rank` is from 0 to 1. */
export function percentile(values: readonly number[], rank: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * rank) - 1)] ?? 0;
}

export function describeReport(report: BenchReport): string {
  const { startMs, ingest, search, documents } = report;
  const rate = (ms: number): string =>
    `${(documents / (ms / 1000)).toFixed(1)} documents/s (${(ms / 1000).toFixed(1)} s)`;
  const latency = ({ p50Ms, p95Ms }: Latency): string => `p50 ${p50Ms.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms`;
  const rows: [string, string][] = [
    ['start', `${startMs.later.toFixed(0)} ms to the tool list (first start ${startMs.first.toFixed(0)} ms)`],
    ['ingest, keywords', rate(ingest.wordsMs)],
    ...(report.model === null ? [] : ([['ingest, with vectors', rate(ingest.wholeMs)]] satisfies [string, string][])),
    ['keyword search', latency(search.words)],
    ...(search.meaning === undefined
      ? []
      : ([['semantic search', latency(search.meaning)]] satisfies [string, string][])),
    ['hybrid search', latency(search.both)],
  ];
  return `carrel ${report.version}, Node ${report.node}, ${report.machine}
model: ${report.model ?? 'none'}
${documents} generated documents, ${report.passages} passages, ${(report.bytes / 1e6).toFixed(2)} MB, one caller at a time

${rows.map(([name, value]) => `${name.padEnd(22)}${value}`).join('\n')}
`;
}
