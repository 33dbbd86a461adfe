import type { FilterFigures, PostgresFigures } from './measure-postgres.ts';
import type { RerankingFigures } from './measure-reranking.ts';
import type { SizeFigures } from './measure-size.ts';
import type { Timings } from './timings.ts';

export interface Target {
  readonly name: string;
  readonly measured: string;
  readonly isReached: boolean;
}

export function ingestTable(figures: readonly SizeFigures[]): string {
  return table(
    [
      'passages',
      'Carrel, passages/s',
      'FTS5 with a trigger',
      'FTS5 by statement',
      '× trigger',
      '× statement',
      'vectors/s: Carrel',
      'sqlite-vec',
      'file MB: Carrel',
      'raw',
      'RSS MB',
      'loading vectors, ms',
    ],
    figures.map(({ passages, ingest, vectors, bytes, rssBytes, loadMs }) => [
      count(passages),
      count(ingest.carrel),
      count(ingest.trigger),
      count(ingest.statement),
      ratio(ingest.carrel / ingest.trigger),
      ratio(ingest.carrel / ingest.statement),
      count(vectors.carrel),
      count(vectors.raw),
      megabytes(bytes.carrel),
      megabytes(bytes.raw),
      megabytes(rssBytes),
      milliseconds(loadMs),
    ]),
  );
}

export function searchTable(figures: readonly SizeFigures[]): string {
  const rows: [name: string, value: (each: SizeFigures) => string][] = [
    ['keyword', ({ searches }) => formatTimings(searches.words)],
    ['raw FTS5, the same words', ({ searches }) => formatTimings(searches.rawWords)],
    ['keyword, label filter matching half of the passages', ({ searches }) => formatTimings(searches.wordsHalf)],
    ['semantic', ({ searches }) => formatTimings(searches.meaning)],
    ['raw sqlite-vec, float32', ({ searches }) => formatTimings(searches.rawMeaning)],
    ['semantic, the same filter', ({ searches }) => formatTimings(searches.meaningHalf)],
    ['hybrid', ({ searches }) => formatTimings(searches.hybrid)],
    ['hybrid, the same filter', ({ searches }) => formatTimings(searches.hybridHalf)],
    ['hybrid while ingesting', (each) => (each.hybridWhileIngesting ? formatTimings(each.hybridWhileIngesting) : '')],
    ['the most expensive query within the limits', ({ worst }) => `${milliseconds(worst.ms)}: ${worst.name}`],
  ];
  return table(
    ['p50 / p99 in ms', ...figures.map(({ passages }) => count(passages))],
    rows.map(([name, value]) => [name, ...figures.map(value)]),
  );
}

export function targetsOf(figures: SizeFigures): Target[] {
  const { searches, hybridWhileIngesting, worst } = figures;
  const atMost = (name: string, measured: number, bound: number): Target => ({
    name: `${name} ≤ ${bound} ×`,
    measured: `${ratio(measured)} ×`,
    isReached: measured <= bound,
  });
  return [
    atMost('keyword: p50 vs. raw FTS5', searches.words.p50 / searches.rawWords.p50, 1.5),
    atMost('semantic: p50 vs. sqlite-vec', searches.meaning.p50 / searches.rawMeaning.p50, 0.1),
    ...(hybridWhileIngesting === undefined
      ? []
      : [atMost('hybrid while ingesting: p99 vs. idle', hybridWhileIngesting.p99 / searches.hybrid.p99, 2)]),
    {
      name: 'the most expensive query ≤ 500 ms',
      measured: `${milliseconds(worst.ms)} ms: ${worst.name}`,
      isReached: worst.ms <= 500,
    },
  ];
}

export function loadTable({ loaded, bytes }: PostgresFigures): string {
  const row = (name: 'sqlite' | 'postgres') => [
    name === 'sqlite' ? 'SQLite' : 'PostgreSQL',
    loaded ? count(loaded.passages[name]) : '',
    loaded ? count(loaded.vectors[name]) : '',
    loaded && name === 'postgres' ? count(loaded.indexSeconds) : '',
    megabytes(bytes[name]),
  ];
  return table(['', 'passages/s', 'vectors/s', 'vector index build, s', 'MB'], [row('sqlite'), row('postgres')]);
}

export function comparisonTable({ searches }: PostgresFigures): string {
  return table(
    ['p50 / p99 in ms', 'SQLite', 'PostgreSQL', '× p50', '× p99'],
    searches.map(({ name, sqlite, postgres }) => [
      name,
      formatTimings(sqlite),
      formatTimings(postgres),
      ratio(postgres.p50 / sqlite.p50),
      ratio(postgres.p99 / sqlite.p99),
    ]),
  );
}

export function filterTable(figures: readonly FilterFigures[]): string {
  const [unfiltered] = figures;
  const ratioToUnfiltered = (limit: 'ten' | 'hundred', { p50 }: Timings) => ratio(p50 / (unfiltered?.[limit].p50 ?? 0));
  return table(
    [
      'semantic search on PostgreSQL',
      'matching passages',
      '10 results: p50 / p99 in ms',
      '× p50',
      'recall@10',
      '100 results',
      '× p50',
    ],
    figures.map(({ name, passing, ten, hundred, recall }) => [
      name,
      count(passing),
      formatTimings(ten),
      ratioToUnfiltered('ten', ten),
      recall.toFixed(4),
      formatTimings(hundred),
      ratioToUnfiltered('hundred', hundred),
    ]),
  );
}

export function rerankingTable(figures: readonly RerankingFigures[]): string {
  return table(
    ['length of 20 candidates', 'not reranked, p50 / p99 in ms', 'reranked', 'added p50 ms', 'added MB'],
    figures.map(({ pieces, without, reranked, megabytes: added }) => [
      `${pieces} word pieces`,
      formatTimings(without),
      formatTimings(reranked),
      milliseconds(reranked.p50 - without.p50),
      added.toFixed(0),
    ]),
  );
}

export function targetTable(targets: readonly Target[]): string {
  return table(
    ['target at 100,000 passages', 'measured', ''],
    targets.map(({ name, measured, isReached }) => [name, measured, isReached ? 'reached' : 'missed']),
  );
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return `${[line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')}\n`;
}

function formatTimings({ p50, p99 }: Timings): string {
  return `${milliseconds(p50)} / ${milliseconds(p99)}`;
}

function milliseconds(value: number): string {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

function ratio(value: number): string {
  return value.toFixed(2);
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
