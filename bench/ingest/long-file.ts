/**
 * Measures how soon a long file is searchable, with the bundled model: `node bench/ingest/long-file.ts [--manual] [--alone] [file]`.
 * Sends the file, or Markdown of 4,000 short sections, or (`--manual`) a PDF of 311 pages, to the built engine. Prints the seconds
 * until keyword search finds it and until its last chunk is embedded. Also prints the CPU time of the engine and its reader
 * processes, and how much longer searches take during ingestion. `--alone` measures without searches. Needs a quiet machine.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startCarrel, withModels } from '../../test/support/child-program.ts';
import { engineClient, formOf } from '../../test/support/engine-client.ts';
import { childrenOf, cpuMicroseconds } from '../processes.ts';
import { quantile } from '../statistics.ts';
import { createManual } from './manual.ts';
import { createMarkdown } from './markdown.ts';
import { measureSearches } from './searches.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { manual: { type: 'boolean' }, alone: { type: 'boolean' } },
});
const file = fileToSend();
const cleanUps: (() => void | Promise<void>)[] = [];
const program = await startCarrel({ after: (cleanUp) => void cleanUps.push(cleanUp) }, ['engine'], { env: withModels });
const engine = engineClient(program);
try {
  for (let index = 0; index < 20; index += 1) {
    const { name, content } = createMarkdown(index, 20);
    await engine.submit(formOf({}, name, content));
  }
  await waitUntilEmbedded();
  await measureSearches(engine, { count: 50 });
  const idle = await measureSearches(engine, { count: 300 });
  const started = performance.now();
  const cpuBefore = cpuSeconds();
  const elapsed = () =>
    `${((performance.now() - started) / 1000).toFixed(1)} s (${(cpuSeconds() - cpuBefore).toFixed(1)} s of CPU)`;
  const { json } = await engine.submit(formOf({}, file.name, file.content));
  await engine.documentIdOf(Number(json['job_id']));
  console.log(`${file.name}, ${(file.content.length / 1024).toFixed(0)} KB: found by keyword after ${elapsed()}`);
  const abort = new AbortController();
  const concurrent = values.alone ? [] : measureSearches(engine, { signal: abort.signal });
  await waitUntilEmbedded();
  abort.abort();
  const { chunks } = await engine.get('/status');
  console.log(
    `embedded after ${elapsed()}, ${values.alone ? 'alone' : 'with concurrent searches'}; ${chunks} chunks in total`,
  );
  for (const share of values.alone ? [] : [0.5, 0.99]) {
    const [before, during] = [quantile(idle, share), quantile(await concurrent, share)];
    console.log(
      `searches, p${share * 100}: idle ${before.toFixed(1)} ms, while embedding ${during.toFixed(1)} ms, ${(during / before).toFixed(1)} ×`,
    );
  }
} finally {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
}

function fileToSend(): { name: string; content: Buffer } {
  if (values.manual) return createManual(311);
  const [path] = positionals;
  return path === undefined ? sections(4000) : { name: basename(path), content: readFileSync(path) };
}

/** Returns the CPU time of the engine and its reader processes. */
function cpuSeconds(): number {
  const pid = program.process.pid ?? 0;
  return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + cpuMicroseconds(each), 0) / 1e6;
}

async function waitUntilEmbedded(): Promise<void> {
  for (;;) {
    const { queue, unembedded } = await engine.get('/status');
    const { queued, processing } = queue as Record<'queued' | 'processing', number>;
    if (queued + processing === 0 && unembedded === 0) return;
    await delay(50);
  }
}

function sections(count: number): { name: string; content: Buffer } {
  const texts = Array.from(
    { length: count },
    (_, index) => `## Section ${index}\n\nLamp ${index} stands in room ${index % 37} and burns ${index * 3} g.\n`,
  );
  return { name: 'sections.md', content: Buffer.from(texts.join('\n')) };
}
