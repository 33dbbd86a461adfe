/**
 * Ingests files through the HTTP API of the built engine. Reports files and MB per second for each format, the peak memory, and
 * how long searches take during ingestion and while the engine is idle.
 *
 *     node bench/ingest/run.ts                    every format of test/corpus, then searches during ingestion
 *     node bench/ingest/run.ts --chunks 100000    this many chunks of generated Markdown instead
 *
 *     --copies 40   copies of each file, each with a few bytes that readers ignore
 *     --embed       also embeds with the bundled model; otherwise there is only keyword search
 *     --workers 2
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startCarrel, withModels } from '../../test/support/child-program.ts';
import { type EngineClient, engineClient, formOf } from '../../test/support/engine-client.ts';
import { childrenOf, cpuMicroseconds, peakMegabytes } from '../processes.ts';
import { quantile } from '../statistics.ts';
import { createMarkdown } from './markdown.ts';
import { measureSearches } from './searches.ts';

const { values: options } = parseArgs({
  options: {
    copies: { type: 'string', default: '40' },
    chunks: { type: 'string' },
    embed: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
  },
});
const corpus = join(import.meta.dirname, '../../test/corpus');
const senders = 8;
/** Number of files that are ingested before measuring, so that searches find something. */
const filesBefore = 100;

const cleanUps: (() => void | Promise<void>)[] = [];
const program = await startCarrel({ after: (cleanUp) => void cleanUps.push(cleanUp) }, ['engine'], {
  env: { ...withModels, EMBEDDING_PROVIDER: options.embed ? 'local' : 'none', KB_WORKERS: options.workers },
});
const engine = engineClient(program);
const enginePid = program.process.pid ?? 0;
let readersMb = 0;
const sampling = setInterval(() => {
  readersMb = Math.max(readersMb, ...childrenOf(enginePid).map(peakMegabytes));
}, 100);
try {
  if (options.chunks === undefined) await measureFormats();
  else await measureChunks(Number(options.chunks));
  const engineMb = peakMegabytes(enginePid);
  console.log(`\npeak memory: engine ${engineMb.toFixed(0)} MB, largest reader ${readersMb.toFixed(0)} MB`);
} finally {
  clearInterval(sampling);
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
}

async function measureFormats(): Promise<void> {
  console.log('format     files   KB each   files/s    MB/s  CPU ms/file   failed');
  for (const format of formats()) {
    const copies = samplesOf(format).flatMap(({ name, bytes }) =>
      Array.from({ length: Number(options.copies) }, (_, index) => ({
        name: `${index}-${name}`,
        content: distinctCopy(format, bytes, index),
      })),
    );
    const { seconds, cpuMs, failed } = await ingest(copies);
    const bytes = copies.reduce((sum, { content }) => sum + content.length, 0);
    const cells = [
      format.padEnd(9),
      String(copies.length).padStart(6),
      (bytes / copies.length / 1024).toFixed(1).padStart(9),
      (copies.length / seconds).toFixed(1).padStart(9),
      (bytes / seconds / 1024 / 1024).toFixed(2).padStart(7),
      (cpuMs / copies.length).toFixed(1).padStart(12),
      String(failed).padStart(8),
    ];
    console.log(cells.join(' '));
  }
  await measureSearchesDuring(Array.from({ length: 400 }, (_, index) => createMarkdown(index, 20)));
}

async function measureChunks(chunks: number): Promise<void> {
  const chunksPerFile = 20;
  const files = Array.from({ length: Math.ceil(chunks / chunksPerFile) }, (_, index) => index);
  const { seconds, cpuMs } = await measureSearchesDuring(files.map((index) => createMarkdown(index, chunksPerFile)));
  const status = await engine.get('/status');
  const stored = Number(status['chunks']);
  const measured = (files.length - filesBefore) * chunksPerFile;
  const bytes = Number((status['storage'] as Record<string, number>)['bytes']);
  console.log(
    `${measured} chunks in ${seconds.toFixed(0)} s: ${(measured / seconds).toFixed(1)} chunks/s, ${(cpuMs / measured).toFixed(2)} ms of CPU each`,
  );
  console.log(`database: ${(bytes / 1024 / 1024).toFixed(0)} MB, ${(bytes / stored / 1024).toFixed(1)} KB a chunk`);
}

/** Ingests the files, and measures the same searches before, during and after. */
async function measureSearchesDuring(
  files: readonly { name: string; content: Buffer }[],
): Promise<{ seconds: number; cpuMs: number }> {
  const [initialFiles, measuredFiles] = [files.slice(0, filesBefore), files.slice(filesBefore)];
  await ingest(initialFiles);
  await measureSearches(engine, { count: 50 });
  const idle = await measureSearches(engine, { count: 300 });
  const abort = new AbortController();
  const during = measureSearches(engine, { signal: abort.signal });
  const outcome = await ingest(measuredFiles);
  abort.abort();
  const rows = { idle, during: await during, after: await measureSearches(engine, { count: 300 }) };
  console.log('\nsearches    count   p50 ms   p99 ms');
  for (const [name, times] of Object.entries(rows)) {
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    console.log(
      `${name.padEnd(9)} ${String(times.length).padStart(7)} ${p50.toFixed(1).padStart(8)} ${p99.toFixed(1).padStart(8)}`,
    );
  }
  return outcome;
}

async function ingest(files: readonly { name: string; content: Buffer }[]) {
  const before = await queueOf(engine);
  const pending = [...files];
  const cpuBeforeMs = totalCpuMs();
  const startMs = performance.now();
  await Promise.all(
    Array.from({ length: senders }, async () => {
      for (let file = pending.shift(); file !== undefined; file = pending.shift()) {
        const { status, json } = await engine.submit(formOf({}, file.name, file.content));
        if (status !== 202) throw new Error(`${file.name}: ${status} ${JSON.stringify(json)}`);
      }
    }),
  );
  for (;;) {
    const now = await queueOf(engine);
    if (now.queued + now.processing === 0) {
      const cpuMs = totalCpuMs() - cpuBeforeMs;
      return { seconds: (performance.now() - startMs) / 1000, cpuMs, failed: now.failed - before.failed };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Returns the CPU time of the engine and its reader processes in ms, including concurrent searches. */
function totalCpuMs(): number {
  return [enginePid, ...childrenOf(enginePid)].reduce((sum, pid) => sum + cpuMicroseconds(pid), 0) / 1000;
}

/** Line breaks in UTF-16, by the first byte of the file's byte order mark. */
const utf16Newlines = new Map([
  [0xff, '\n\0'],
  [0xfe, '\0\n'],
]);

const zipFormats = new Set(['docx', 'pptx', 'xlsx', 'odt', 'ods', 'odp', 'epub', 'zip']);

/** Returns a copy with the same text but different bytes, because the engine stores identical files only once. */
function distinctCopy(format: string, bytes: Buffer, index: number): Buffer {
  if (zipFormats.has(format)) return withZipComment(bytes, `copy ${index}`);
  if (format === 'pdf') return Buffer.concat([bytes, Buffer.from(`\n%${index}\n`)]);
  const newline = utf16Newlines.get(bytes[0] ?? 0) ?? '\n';
  return Buffer.concat([bytes, Buffer.from(newline.repeat(index + 1))]);
}

/** Sets the archive's comment. It is the last field (APPNOTE 4.3.16); its length is in the two bytes before it. */
function withZipComment(bytes: Buffer, comment: string): Buffer {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  const archive = Buffer.from(bytes.subarray(0, end + 22));
  archive.writeUInt16LE(comment.length, end + 20);
  return Buffer.concat([archive, Buffer.from(comment)]);
}

async function queueOf(client: EngineClient) {
  return (await client.get('/status'))['queue'] as Record<'queued' | 'processing' | 'done' | 'failed', number>;
}

function formats(): string[] {
  return readdirSync(corpus, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'refused')
    .map(({ name }) => name)
    .sort();
}

function samplesOf(format: string): { name: string; bytes: Buffer }[] {
  return readdirSync(join(corpus, format), { withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('expected.txt'))
    .map(({ name }) => ({ name, bytes: readFileSync(join(corpus, format, name)) }));
}
