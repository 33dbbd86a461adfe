import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { createPostgresStorage } from '../../src/storage/postgres/postgres-storage.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { createTestDatabase, startRealPostgres, type TestDatabase } from '../../test/support/postgres.ts';
import { type CarrelUnderTest, model, openCarrelOn } from './carrel.ts';
import { filterLabels } from './filter-labels.ts';
import { documentsOf } from './rows.ts';
import { timed } from './timings.ts';
import { queryVectorOf } from './vectors.ts';

/** The same passages in SQLite and in PostgreSQL. */
export interface BothDatabases {
  readonly sqlite: CarrelUnderTest;
  readonly postgres: CarrelUnderTest;
  /** Figures for the rows that this run loaded; undefined if all were already loaded. */
  readonly loaded: LoadFigures | undefined;
  readonly bytes: PerDatabase<number>;
  /** Returns the CPU time of the PostgreSQL server so far, or 0 if it runs on another machine. */
  serverCpuMs(): number;
  close(): Promise<void>;
}

export interface LoadFigures {
  /** Passages and vectors stored per second. */
  readonly passages: PerDatabase<number>;
  readonly vectors: PerDatabase<number>;
  /** Build time of PostgreSQL's vector index. */
  readonly indexSeconds: number;
}

const batchSize = 1000;
const progressEvery = 20_000;
const queryTimeoutMs = 60_000;

/**
 * Opens both databases with this many passages. Without `keepFolder`, they are temporary. Otherwise later runs reuse the data:
 * SQLite's in that folder, PostgreSQL's in the database `carrel_bench_<passages>` on the DATABASE_URL server.
 */
export async function openBoth(passages: number, keepFolder?: string): Promise<BothDatabases> {
  const server = await startRealPostgres();
  assert.ok(typeof server !== 'string', String(server));
  const folder = keepFolder ?? mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const path = join(folder, `carrel-${passages}.db`);
  const { url, drop } = keepFolder ? await openKeptDatabase(server.url, passages) : await createTestDatabase(server);
  const storages = {
    sqlite: await createSqliteStorage({ path, queryTimeoutMs }),
    postgres: await createPostgresStorage({ url, queryTimeoutMs }),
  };
  const carrelOn = { sqlite: openCarrelOn(storages.sqlite), postgres: openCarrelOn(storages.postgres) };
  const loaded = await load(passages, storages, carrelOn);
  return {
    ...carrelOn,
    loaded,
    bytes: { sqlite: statSync(path).size, postgres: (await storages.postgres.describe()).bytes },
    serverCpuMs: await serverCpu(url),
    async close() {
      await carrelOn.sqlite.close();
      await carrelOn.postgres.close();
      await drop();
      await server.stop();
      if (keepFolder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

type PerDatabase<T> = Readonly<Record<'sqlite' | 'postgres', T>>;
const databaseNames = ['sqlite', 'postgres'] as const;

/** Stores the passages and vectors that are still missing, so an interrupted load continues. */
async function load(
  passages: number,
  storages: PerDatabase<Storage>,
  carrelOn: PerDatabase<CarrelUnderTest>,
): Promise<LoadFigures | undefined> {
  const elapsedMs = { passages: { sqlite: 0, postgres: 0 }, vectors: { sqlite: 0, postgres: 0 } };
  const done = { passages: { sqlite: 0, postgres: 0 }, vectors: { sqlite: 0, postgres: 0 } };
  const stored = {
    sqlite: await countOf(storages.sqlite, passages),
    postgres: await countOf(storages.postgres, passages),
  };
  for (let first = Math.min(stored.sqlite, stored.postgres); first < passages; first += batchSize) {
    const documents = documentsOf(first, Math.min(batchSize, passages - first), filterLabels);
    for (const name of databaseNames) {
      if (first < stored[name]) continue;
      elapsedMs.passages[name] += await timed(() => carrelOn[name].insert(documents));
      done.passages[name] += batchSize;
    }
    printProgress('passages', first + batchSize, elapsedMs.passages);
  }
  for (const name of databaseNames) {
    for (let count = 1; count > 0; done.vectors[name] += count) {
      elapsedMs.vectors[name] += await timed(async () => {
        count = await carrelOn[name].insertVectors(batchSize);
      });
      printProgress('vectors', done.vectors[name] + count, elapsedMs.vectors);
    }
  }
  const indexMs = await timed(() => waitForIndex(storages.postgres));
  if (done.vectors.postgres === 0) return undefined;
  const rates = (kind: 'passages' | 'vectors') => ({
    sqlite: (1000 * done[kind].sqlite) / elapsedMs[kind].sqlite,
    postgres: (1000 * done[kind].postgres) / elapsedMs[kind].postgres,
  });
  return { passages: rates('passages'), vectors: rates('vectors'), indexSeconds: indexMs / 1000 };
}

/** Counts stored passages by binary search. This works because they are stored in batches and keys begin at 1. */
async function countOf({ passages }: Storage, max: number): Promise<number> {
  let [stored, missing] = [0, Math.ceil(max / batchSize) + 1];
  while (missing - stored > 1) {
    const middle = Math.floor((stored + missing) / 2);
    if ((await passages.get([Math.min(max, middle * batchSize)])).length > 0) stored = middle;
    else missing = middle;
  }
  return Math.min(max, stored * batchSize);
}

/** Waits until the vector index is built. Searches trigger the build and scan every vector until it is done. */
async function waitForIndex({ vectors: { kb } }: Storage): Promise<void> {
  while ((await kb.models())[0]?.index === 'none') {
    await kb.readSnapshot({ model, query: queryVectorOf(0), limit: 1 });
    await setTimeout(500);
  }
}

async function openKeptDatabase(server: string, passages: number): Promise<TestDatabase> {
  const name = `carrel_bench_${passages}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
  if (rows.length === 0) await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: async () => {} };
}

/** Returns a function that reads the CPU time of the server's processes, if they are on this Linux machine. */
async function serverCpu(url: string): Promise<() => number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const textOf = (path: string) => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  const [, parent = ''] = /^PPid:\s+(\d+)$/m.exec(textOf(`/proc/${rows[0]?.pid}/status`)) ?? [];
  await client.end();
  const processes = () => textOf(`/proc/${parent}/task/${parent}/children`).split(' ').filter(Boolean);
  const spentMs = (pid: string) => Number(textOf(`/proc/${pid}/schedstat`).split(' ')[0]) / 1e6;
  return () => processes().reduce((sum, pid) => sum + spentMs(pid), 0);
}

function printProgress(kind: string, done: number, elapsedMs: PerDatabase<number>): void {
  if (done % progressEvery !== 0) return;
  const seconds = databaseNames.map((name) => `${name} ${(elapsedMs[name] / 1000).toFixed(0)} s`).join(', ');
  console.error(`${new Date().toISOString().slice(11, 19)} ${done} ${kind}: ${seconds}`);
}
