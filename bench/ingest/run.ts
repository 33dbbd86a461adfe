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
import { cpuMicroseconds } from '../protocol/process-meter.ts';
import { distinctCopy } from './distinct-copy.ts';
import { createMarkdown } from './markdown.ts';
import { childrenOf, createMemoryWatch } from './memory-watch.ts';
import { measureSearches, percentile } from './searches.ts';

const { values: options } = parseArgs({
  options: {
    copies: { type: 'string', default: '40' },
    chunks: { type: 'string' },
    embed: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
  },
});
const corpus = join(import.meta.dirname, '../../test/corpus');
const sendersAtOnce = 8;
/** Number of files that are ingested before measuring, so that searches find something. */
const filesBefore = 100;

const closings: (() => void | Promise<void>)[] = [];
const program = await startCarrel({ after: (close) => void closings.push(close) }, ['engine'], {
  env: { ...withModels, EMBEDDING_PROVIDER: options.embed ? 'local' : 'none', KB_WORKERS: options.workers },
});
const engine = engineClient(program);
const memory = createMemoryWatch(program.process.pid ?? 0);
try {
  if (options.chunks === undefined) await measureFormats();
  else await measureChunks(Number(options.chunks));
  const { engine: own, readers } = memory.peaks();
  console.log(`\npeak memory: engine ${own.toFixed(0)} MB, largest reader ${readers.toFixed(0)} MB`);
} finally {
  memory.stop();
  for (const close of closings.reverse()) await close();
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
  await measureSearchesBeside(Array.from({ length: 400 }, (_, index) => createMarkdown(index, 20)));
}

async function measureChunks(chunks: number): Promise<void> {
  const chunksPerFile = 20;
  const files = Array.from({ length: Math.ceil(chunks / chunksPerFile) }, (_, index) => index);
  const { seconds, cpuMs } = await measureSearchesBeside(files.map((index) => createMarkdown(index, chunksPerFile)));
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
async function measureSearchesBeside(
  files: readonly { name: string; content: Buffer }[],
): Promise<{ seconds: number; cpuMs: number }> {
  const [first = [], rest = []] = [files.slice(0, filesBefore), files.slice(filesBefore)];
  await ingest(first);
  await measureSearches(engine, { count: 50 });
  const idle = await measureSearches(engine, { count: 300 });
  const stop = new AbortController();
  const during = measureSearches(engine, { signal: stop.signal });
  const outcome = await ingest(rest);
  stop.abort();
  const rows = { idle, during: await during, after: await measureSearches(engine, { count: 300 }) };
  console.log('\nsearches    count   p50 ms   p99 ms');
  for (const [name, times] of Object.entries(rows)) {
    const [half, most] = [percentile(times, 0.5), percentile(times, 0.99)];
    console.log(
      `${name.padEnd(9)} ${String(times.length).padStart(7)} ${half.toFixed(1).padStart(8)} ${most.toFixed(1).padStart(8)}`,
    );
  }
  return outcome;
}

async function ingest(files: readonly { name: string; content: Buffer }[]) {
  const before = await queueOf(engine);
  const waiting = [...files];
  const cpuBefore = cpuOfAll();
  const started = performance.now();
  await Promise.all(
    Array.from({ length: sendersAtOnce }, async () => {
      for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
        const { status, json } = await engine.submit(formOf({}, file.name, file.content));
        if (status !== 202) throw new Error(`${file.name}: ${status} ${JSON.stringify(json)}`);
      }
    }),
  );
  for (;;) {
    const now = await queueOf(engine);
    if (now.queued + now.processing === 0) {
      const cpuMs = cpuOfAll() - cpuBefore;
      return { seconds: (performance.now() - started) / 1000, cpuMs, failed: now.failed - before.failed };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Returns the CPU time of the engine and its reader processes in ms, including concurrent searches. */
function cpuOfAll(): number {
  const pid = program.process.pid ?? 0;
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuMicroseconds(each), 0) / 1000;
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
