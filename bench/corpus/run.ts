/**
 * Extracts the text of real documents and compares it with the text that other programs extract: `node bench/corpus/run.ts FOLDER
 * [--format doc] [--worst 10] [--write]`. gather.py fills FOLDER. `--write` puts the table into docs/formats.md.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isCarrelError } from '../../src/base/errors.ts';
import { createExtractor } from '../../src/documents/extractor.ts';
import { type Comparison, compare } from './compare.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { format: { type: 'string' }, worst: { type: 'string', default: '0' }, write: { type: 'boolean' } },
});
const folder = positionals[0] ?? '';
const files = join(folder, 'files');
if (!existsSync(files)) throw new Error('Fill the folder first: python3 bench/corpus/gather.py FOLDER');
// With --format, the written table would lack the other formats.
if (values.write && values.format) throw new Error('--write needs all formats: leave --format out');

interface FileResult {
  readonly name: string;
  readonly comparison?: Comparison | undefined;
  /** The error code if the file was refused. */
  readonly errorCode?: string;
}

/** Uses the knowledge base's limits. */
const extractor = createExtractor({
  cpuMsMax: 300_000,
  memoryMb: 512,
  workersMax: availableParallelism(),
  bytesMax: 64 * 1024 * 1024,
  textCharsMax: 10_000_000,
  queueMax: 10_000,
});
const rows: string[] = [];
for (const format of values.format?.split(',') ?? readdirSync(files)) {
  const results = await Promise.all(
    readdirSync(join(files, format))
      .filter((name) => !name.endsWith('.reference.txt'))
      .map((name) => read(format, name)),
  );
  rows.push(formatRow(format, results));
  console.log(rows.at(-1));
  printWorst(results);
}
await extractor.close();
if (values.write) writeTable();

async function read(format: string, name: string): Promise<FileResult> {
  const path = join(files, format, name);
  const bytes = readFileSync(path);
  const reference = readFileSync(`${path}.reference.txt`, 'utf8');
  try {
    const { text, title } = await extractor.extract({ bytes, filename: name, mode: 'markdown', extent: 'page' });
    // Numbers in spreadsheets can't be compared: Carrel formats them, but other readers return the stored values.
    const withNumbers = !['xls', 'xlsx', 'ods'].includes(format);
    return { name, comparison: compare(`${title ?? ''}\n${text}`, reference, withNumbers) };
  } catch (error) {
    if (isCarrelError(error)) return { name, errorCode: error.code };
    throw error;
  }
}

function formatRow(format: string, results: readonly FileResult[]): string {
  const comparisons = results.flatMap(({ comparison }) => comparison ?? []);
  const refusals = Map.groupBy(
    results.flatMap((result) => result.errorCode ?? []),
    (code) => code,
  );
  const recalls = comparisons.map(({ recall }) => recall).sort((one, other) => one - other);
  const orders = comparisons.map(({ order }) => order);
  const cells = [
    `\`${format}\``,
    results.length,
    comparisons.length,
    ...[median(recalls), mean(recalls), recalls[0] ?? 1, mean(orders)].map((share) => share.toFixed(3)),
    [...refusals].map(([code, all]) => `${all.length} \`${code}\``).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}

function printWorst(results: readonly FileResult[]): void {
  const sorted = results.filter(({ comparison }) => comparison).sort(byRecall);
  for (const { name, comparison } of sorted.slice(0, Number(values.worst))) {
    console.log(`  ${comparison?.recall.toFixed(3)} ${comparison?.order.toFixed(3)} ${comparison?.words} ${name}`);
  }
  for (const { name, errorCode } of results)
    if (errorCode && values.worst !== '0') console.log(`  ${errorCode} ${name}`);
}

function byRecall({ comparison: one }: FileResult, { comparison: other }: FileResult): number {
  return (one?.recall ?? 0) - (other?.recall ?? 0);
}

function median(sorted: readonly number[]): number {
  return sorted[sorted.length >> 1] ?? 1;
}

function mean(numbers: readonly number[]): number {
  return numbers.length === 0 ? 1 : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function writeTable(): void {
  const page = new URL('../../docs/formats.md', import.meta.url);
  const table = [
    `<!-- corpus: ${new Date().toISOString().slice(0, 10)} -->`,
    '| format | files | compared | recall of words: median | mean | worst | order | refused |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
    '<!-- /corpus -->',
  ];
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, text.replace(/<!-- corpus.*<!-- \/corpus -->/s, table.join('\n')));
}
