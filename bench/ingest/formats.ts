/**
 * Measures extraction speed by format: `node bench/ingest/formats.ts [seconds]`. Small files come from the test corpus; large ones
 * are generated, with about 2 MB of text each.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { createExtractor } from '../../src/documents/extractor.ts';
import { type CorpusFile, corpusFiles } from '../../test/corpus/corpus.ts';
import { docxOf, odfOf, paragraph, xlsxOf } from '../../test/security/parsers/office-samples.ts';

export interface FormatFigure {
  format: string;
  size: 'small' | 'large';
  files: number;
  filesPerSecond: number;
  /** Megabytes of the files themselves, which may be compressed, per second. */
  mbPerSecond: number;
  charsPerSecond: number;
  /** Peak memory of one reader process, in MB; null if unknown. */
  peakMb: number | null;
}

export interface FormatBenchOptions {
  /** Measuring time of each row. */
  seconds?: number;
  workers?: number;
  /** Only these kinds. */
  formats?: readonly string[];
}

export async function measureFormats(options: FormatBenchOptions = {}): Promise<FormatFigure[]> {
  const { formats } = options;
  const groups = Map.groupBy(corpusFiles(), ({ folder }) => folder);
  const rows: [string, 'small' | 'large', CorpusFile[]][] = [...groups].map(([format, files]) => [
    format,
    'small',
    files,
  ]);
  for (const file of largeFiles()) rows.push([file.folder, 'large', [file]]);
  const figures: FormatFigure[] = [];
  for (const [format, size, files] of rows) {
    if (formats && !formats.includes(format)) continue;
    figures.push(await measure(format, size, files, options));
  }
  return figures;
}

/** Measures one row with a new extractor, so that the memory peak belongs to this format. */
async function measure(
  format: string,
  size: FormatFigure['size'],
  files: readonly CorpusFile[],
  { seconds = 2, workers = 2 }: FormatBenchOptions,
): Promise<FormatFigure> {
  const extractor = createExtractor({ cpuMsMax: 60_000, memoryMb: 1024, workersMax: workers, idleMs: 60_000 });
  const before = new Set(childIds());
  const count = { files: 0, bytes: 0, chars: 0 };
  const read = async (index: number) => {
    const file = files[index % files.length];
    if (!file) return;
    const { text } = await extractor.extract({ bytes: file.bytes, filename: file.name, mode: 'markdown' });
    count.files += 1;
    count.bytes += file.bytes.byteLength;
    count.chars += text.length;
  };
  // Warm-up: starting processes and loading parsers happens once, not per document.
  await Promise.all(Array.from({ length: workers * files.length }, (_, index) => read(index)));
  Object.assign(count, { files: 0, bytes: 0, chars: 0 });
  const started = performance.now();
  const until = started + seconds * 1000;
  let next = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (performance.now() < until) await read(next++);
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  const peaks = childIds()
    .filter((id) => !before.has(id))
    .flatMap(peakOf);
  await extractor.close();
  return {
    format,
    size,
    files: count.files,
    filesPerSecond: count.files / elapsed,
    mbPerSecond: count.bytes / elapsed / 1e6,
    charsPerSecond: count.chars / elapsed,
    peakMb: peaks.length > 0 ? Math.max(...peaks) : null,
  };
}

function childIds(): number[] {
  try {
    return readdirSync('/proc/self/task').flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function peakOf(id: number): number[] {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1];
  return kilobytes === undefined ? [] : [Number(kilobytes) / 1024];
}

function largeFiles(): CorpusFile[] {
  const sentence = 'The wick is trimmed every four hours, and the keeper writes the hour into the log. ';
  const lines = Array.from({ length: 20_000 }, (_, index) => `${index} ${sentence}`);
  const rows = Array.from({ length: 20_000 }, (_, index) => [`item ${index}`, String(index * 3), sentence]);
  const code = Array.from(
    { length: 6000 },
    (_, index) => `def night_${index}(hours):\n    # ${sentence}\n    return hours * ${index}\n`,
  );
  const cells = (row: readonly string[]) =>
    `<row>${row.map((value) => `<c t="inlineStr"><is><t>${value}</t></is></c>`).join('')}</row>`;
  return [
    large('docx', docxOf(lines.map(paragraph).join(''))),
    large('odt', odfOf('text', lines.map((line) => `<text:p>${line}</text:p>`).join(''))),
    large('xlsx', xlsxOf(`<sheetData>${rows.map(cells).join('')}</sheetData>`)),
    large('csv', Buffer.from(rows.map((row) => row.map((value) => `"${value}"`).join(',')).join('\n'))),
    large('html', Buffer.from(`<!doctype html><body>${lines.map((line) => `<p>${line}</p>`).join('')}`)),
    large('text', Buffer.from(lines.join('\n'))),
    large('code', Buffer.from(code.join('\n')), 'nights.py'),
    large('rtf', Buffer.from(`{\\rtf1 ${lines.map((line) => `${line}\\par`).join('\n')}}`)),
  ];
}

function large(folder: string, bytes: Uint8Array, name = `large.${folder}`): CorpusFile {
  return { folder, name, bytes, expected: [] };
}

if (process.argv[1] === import.meta.filename) {
  const figures = await measureFormats({ seconds: Number(process.argv[2] ?? 2) });
  console.table(
    figures.map(({ format, size, files, filesPerSecond, mbPerSecond, charsPerSecond, peakMb }) => ({
      format,
      size,
      files,
      'files/s': Number(filesPerSecond.toFixed(1)),
      'MB/s': Number(mbPerSecond.toFixed(2)),
      'chars/s': Math.round(charsPerSecond),
      'peak MB': peakMb === null ? null : Math.round(peakMb),
    })),
  );
}
