import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { localEngineSlices, openLocalEngine } from '../../app/open-engine.ts';
import { loadRoleConfig } from '../../app/program.ts';
import { serveRole } from '../../app/roles.ts';
import { createSharedServices } from '../../app/shared-services.ts';
import { CarrelError } from '../../base/errors.ts';
import { version } from '../../base/package-info.ts';
import type { Engine } from '../../engine/engine.ts';
import { addAll } from '../add/add-all.ts';
import { findFiles } from '../add/find-files.ts';
import type { CommandLine } from '../command-line.ts';
import { logOf } from '../debug-log.ts';
import { testLaunch } from '../init/handshake.ts';
import { launchOf } from '../init/launch-command.ts';
import { createPhaseLines, createProgressLine } from '../progress-line.ts';
import { numberFlag } from '../tool-commands/with-tools.ts';
import { usageError } from '../usage-error.ts';
import { type Corpus, writeCorpus } from './corpus.ts';
import { type BenchReport, describeReport, percentile } from './report.ts';

const documentsDefault = 200;
const documentsMax = 20_000;
const startsCount = 5;
const warmUpQueries = 5;
const roundsPerQuery = 3;

/** `carrel bench`: measures this machine with generated documents in a temporary folder. */
export async function benchCommand(line: CommandLine): Promise<void> {
  const documents = numberFlag(line, 'documents') ?? documentsDefault;
  if (documents < 1 || documents > documentsMax) {
    throw usageError(`--documents must be from 1 to ${documentsMax}.`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const onInterrupt = (): void => {
    removeFolder();
    process.exit(130);
  };
  process.once('SIGINT', onInterrupt);
  const progress = process.stderr.isTTY ? createProgressLine(process.stderr) : createPhaseLines(process.stderr);
  try {
    progress.show('starting the server');
    const startMs = await measureStarts(line, folder);
    const corpus = writeCorpus(join(folder, 'documents'), documents);
    const figures = await measureEngine(line, folder, corpus, (text) => progress.show(text));
    progress.clear();
    const report: BenchReport = { ...machineFacts(), documents, bytes: corpus.bytes, startMs, ...figures };
    const isJson = line.flags['json'] === true || !process.stdout.isTTY;
    process.stdout.write(isJson ? `${JSON.stringify(report, null, 2)}\n` : describeReport(report));
  } finally {
    progress.clear();
    process.off('SIGINT', onInterrupt);
    removeFolder();
  }
}

/** Measures the time from process start to the tool list. The first start has no compile cache. */
async function measureStarts(line: CommandLine, folder: string): Promise<BenchReport['startMs']> {
  const { command, args } = launchOf(
    { ...line, flags: { 'data-dir': join(folder, 'start') } },
    { tools: 'all', allow: '' },
  );
  const times: number[] = [];
  for (let count = 0; count < startsCount; count += 1) times.push((await testLaunch({ command, args })).answeredMs);
  const [first = 0, ...later] = times;
  return { first, later: percentile(later, 0.5) };
}

type EngineFigures = Pick<BenchReport, 'passages' | 'model' | 'ingest' | 'search'>;

async function measureEngine(
  line: CommandLine,
  folder: string,
  corpus: Corpus,
  show: (text: string) => void,
): Promise<EngineFigures> {
  // Only the model's settings apply; the others may point to a database or engine with real data.
  const config = loadRoleConfig(
    { ...serveRole, slices: localEngineSlices },
    { 'data-dir': join(folder, 'data') },
    modelEnv(),
  );
  const log = logOf(line);
  const engine = await openLocalEngine({ config, log, shared: createSharedServices(config, log) });
  try {
    const ingest = await measureIngest(engine, join(folder, 'documents'), show);
    show('searching');
    const { chunks, model } = await engine.status();
    const search = {
      words: await measureSearch(engine, corpus, { fts_only: true }),
      ...(model === null ? {} : { meaning: await measureSearch(engine, corpus, { vec_only: true }) }),
      both: await measureSearch(engine, corpus, {}),
    };
    return { passages: chunks, model: model?.name ?? null, ingest, search };
  } finally {
    await engine.close();
  }
}

async function measureIngest(
  engine: Engine,
  folder: string,
  show: (text: string) => void,
): Promise<BenchReport['ingest']> {
  const signal = new AbortController().signal;
  const reporter = {
    report() {},
    progress: (done: { files: number }, total: { files: number }) => show(`ingesting ${done.files}/${total.files}`),
    embedding() {},
    end() {},
  };
  const startedAt = performance.now();
  const { failed } = await addAll(findFiles([folder], { include: [], exclude: [] }), {
    engine,
    reporter,
    tags: [],
    signal,
    waitsForVectors: false,
  });
  if (failed > 0) throw new CarrelError('internal', `${failed} generated documents were not ingested.`);
  const wordsMs = performance.now() - startedAt;
  while (((await engine.status()).unembedded ?? 0) > 0) await delay(50);
  return { wordsMs, wholeMs: performance.now() - startedAt };
}

async function measureSearch(engine: Engine, { queries }: Corpus, options: { fts_only?: boolean; vec_only?: boolean }) {
  for (const query of queries.slice(0, warmUpQueries)) await engine.search({ query, top: 10, ...options });
  const times: number[] = [];
  for (let round = 0; round < roundsPerQuery; round += 1) {
    for (const query of queries) {
      const startedAt = performance.now();
      await engine.search({ query, top: 10, ...options });
      times.push(performance.now() - startedAt);
    }
  }
  return { p50Ms: percentile(times, 0.5), p95Ms: percentile(times, 0.95) };
}

function modelEnv(): NodeJS.ProcessEnv {
  const modelVariables = /^(EMBEDDING_|OLLAMA_|OPENAI_|RERANKING_|ENABLE_RERANKING$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => modelVariables.test(name)));
}

function machineFacts(): Pick<BenchReport, 'version' | 'node' | 'machine'> {
  const all = cpus();
  const machine = `${process.platform} ${process.arch}, ${all.length} x ${all[0]?.model.trim() || 'unknown CPU'}`;
  return { version, node: process.version, machine };
}
