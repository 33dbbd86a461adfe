import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { PassageFilter } from '../../src/storage/passages/passage.ts';
import { type CarrelOnSqlite, openCarrel } from './carrel.ts';
import { createRawPeer, type RawPeer } from './raw-peer.ts';
import { documentsOf, passagesOfDocument, queryOf, rowOf } from './rows.ts';
import { isCpuTime, measureInterleaved, type Timings, timed, timingsOf } from './timings.ts';
import { queryVectorOf, vectorOf } from './vectors.ts';

export interface SizeFigures {
  readonly passages: number;
  /** Passages stored per second: by Carrel, and by raw FTS5 filled by a trigger or by a statement. */
  readonly ingest: { readonly carrel: number; readonly trigger: number; readonly statement: number };
  readonly vectors: { readonly carrel: number; readonly raw: number };
  readonly bytes: { readonly carrel: number; readonly raw: number };
  readonly rssBytes: number;
  /** How much longer the first semantic search of a process takes than the same search later. */
  readonly loadMs: number;
  readonly searches: Readonly<Record<SearchName, Timings>>;
  /** Undefined if CPU time is measured, because it can't be split between searches and writes. */
  readonly hybridWhileIngesting: Timings | undefined;
  readonly worst: { readonly name: string; readonly ms: number };
}

type SearchName =
  | 'words'
  | 'rawWords'
  | 'wordsHalf'
  | 'meaning'
  | 'rawMeaning'
  | 'meaningHalf'
  | 'hybrid'
  | 'hybridHalf';

/** Rows per transaction, for Carrel and for raw SQLite. */
const batchSize = 1000;

const limit = 10;

const progressRows = 100_000;

/** With more passages, each search is repeated a quarter as often, because the baseline takes a second per search. */
const manyPassages = 200_000;

export async function measureSize(passages: number, repetitions: number, folder: string): Promise<SizeFigures> {
  const searches = passages > manyPassages ? Math.ceil(repetitions / 4) : repetitions;
  const path = join(folder, 'carrel.db');
  const carrel = await openCarrel(path);
  const raw = createRawPeer({ folder, name: 'raw', ftsFilledBy: 'statement' });
  const triggered = createRawPeer({ folder, name: 'triggered', ftsFilledBy: 'trigger' });
  const ingest = await ingestRows(passages, carrel, raw, triggered);
  // The searches below don't need this database, whose file has 3 GB at a million passages.
  triggered.remove();
  const vectors = await ingestVectors(passages, carrel, raw);
  printProgress(`${passages} vectors are stored`);
  const figures = await measureInterleaved(searchCalls(carrel, raw), searches);
  printProgress('searched');
  const worst = await worstOf(carrel);
  const hybridWhileIngesting = isCpuTime() ? undefined : await searchWhileIngesting(passages, carrel, searches);
  await carrel.close();
  raw.close();
  // Measured after closing: until then part of the data is in the write-ahead log.
  const bytes = { carrel: carrel.bytes(), raw: raw.bytes() };
  const { rssBytes, loadMs } = coldStart(path);
  return { passages, ingest, vectors, bytes, rssBytes, loadMs, searches: figures, hybridWhileIngesting, worst };
}

function coldStart(path: string): { rssBytes: number; loadMs: number } {
  const output = execFileSync(process.execPath, [join(import.meta.dirname, 'print-cold-start.ts'), path], {
    encoding: 'utf8',
  });
  const [rssBytes = 0, loadMs = 0] = output.split(' ').map(Number);
  return { rssBytes, loadMs };
}

/** Prints progress: a million passages take half an hour. */
function printProgress(text: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)} ${text}`);
}

async function ingestRows(passages: number, carrel: CarrelOnSqlite, raw: RawPeer, triggered: RawPeer) {
  const elapsedMs = { carrel: 0, trigger: 0, statement: 0 };
  for (let first = 0; first < passages; first += batchSize) {
    const count = Math.min(batchSize, passages - first);
    const documents = documentsOf(first, count);
    const rows = Array.from({ length: count }, (_, at) => rowOf(first + at));
    elapsedMs.carrel += await timed(() => carrel.insert(documents));
    elapsedMs.statement += await timed(() => raw.insert(rows));
    elapsedMs.trigger += await timed(() => triggered.insert(rows));
    if ((first + count) % progressRows === 0) printProgress(`${first + count} of ${passages} passages are stored`);
  }
  const rate = (ms: number) => (passages * 1000) / ms;
  return { carrel: rate(elapsedMs.carrel), trigger: rate(elapsedMs.trigger), statement: rate(elapsedMs.statement) };
}

async function ingestVectors(passages: number, carrel: CarrelOnSqlite, raw: RawPeer) {
  const elapsedMs = { carrel: 0, raw: 0 };
  for (let done = 0; done < passages; ) {
    let count = 0;
    elapsedMs.carrel += await timed(async () => {
      count = await carrel.insertVectors(batchSize);
    });
    if (count === 0) throw new Error(`Only ${done} of ${passages} vectors were stored.`);
    const vectors = Array.from({ length: count }, (_, at) => vectorOf(done + at));
    elapsedMs.raw += await timed(() => raw.insertVectors(done + 1, vectors));
    done += count;
  }
  return { carrel: (passages * 1000) / elapsedMs.carrel, raw: (passages * 1000) / elapsedMs.raw };
}

function searchCalls(carrel: CarrelOnSqlite, raw: RawPeer) {
  const half: PassageFilter = { labels: [['tag:half1']] };
  return {
    words: (number: number) => carrel.words(number, limit),
    rawWords: (number: number) => raw.words(queryOf(number), limit),
    wordsHalf: (number: number) => carrel.words(number, limit, half),
    meaning: (number: number) => carrel.meaning(number, limit),
    rawMeaning: (number: number) => raw.nearest(queryVectorOf(number), limit),
    meaningHalf: (number: number) => carrel.meaning(number, limit, half),
    hybrid: (number: number) => carrel.hybrid(number, limit),
    hybridHalf: (number: number) => carrel.hybrid(number, limit, ['half1']),
  };
}

async function searchWhileIngesting(passages: number, carrel: CarrelOnSqlite, searches: number): Promise<Timings> {
  let next = Math.ceil(passages / passagesOfDocument) * passagesOfDocument;
  let isStopped = false;
  // Ten documents per transaction, as in several concurrent uploads.
  const ingesting = (async () => {
    while (!isStopped) {
      await carrel.insert(documentsOf(next, 10 * passagesOfDocument));
      next += 10 * passagesOfDocument;
      await carrel.insertVectors(batchSize);
    }
  })();
  const times: number[] = [];
  for (let number = 0; number < searches; number += 1) times.push(await timed(() => carrel.hybrid(number, limit)));
  isStopped = true;
  await ingesting;
  return timingsOf(times);
}

/** Runs the most expensive queries that the limits allow, each once. Returns the slowest. */
async function worstOf(carrel: CarrelOnSqlite): Promise<SizeFigures['worst']> {
  let worst = { name: '', ms: 0 };
  for (const [name, query] of Object.entries(carrel.slowestQueries())) {
    const ms = await timed(() => carrel.search(query, limit));
    if (ms > worst.ms) worst = { name, ms };
  }
  return worst;
}
