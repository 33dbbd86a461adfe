import { setTimeout as delay } from 'node:timers/promises';
import type { Owner } from '../../test/fakes/loopback-server.ts';
import { startOllama } from '../../test/fakes/ollama.ts';
import { createRandom } from '../../test/fuzz/random.ts';
import { createCaller } from './caller.ts';
import { createRun } from './clients.ts';
import { startCluster } from './cluster.ts';
import { findFaults } from './history.ts';
import { embedWords, type KindName } from './items.ts';
import { listStored } from './list-stored.ts';

export interface ScaleConfig {
  readonly processes: number;
  readonly clients: number;
  readonly seconds: number;
  readonly seed: number;
  /** True to kill and replace one process during the run. */
  readonly kills: boolean;
  readonly databaseUrl: string;
  /** Returns the CPU time of all database processes. */
  readonly databaseCpuMs: () => number;
}

export interface ScaleFigures {
  readonly processes: number;
  readonly seconds: number;
  readonly calls: number;
  /** CPU time per call in ms: of the servers, of the database, and of this process (clients and balancer). */
  readonly cpuMs: { readonly servers: number; readonly database: number; readonly clients: number };
  readonly times: ReadonlyMap<string, readonly number[]>;
  readonly written: Readonly<Record<KindName, number>>;
  readonly reads: number;
  /** Calls that were retried because no answer came. */
  readonly retries: number;
  readonly faults: readonly string[];
}

/** Warm-up calls of each client, which are not measured: a new process first compiles its code. */
const warmUpSteps = 10;

/** Reranking and summaries are off. The limits per address are raised, because all clients share one address. */
const settings = {
  STORAGE_BACKEND: 'postgresql',
  ENABLE_RERANKING: 'false',
  ENABLE_SUMMARY_GENERATION: 'false',
  RATE_LIMIT_NOTES: '100000',
  KB_UPLOADS_PER_CLIENT: '10000',
};

export async function measureScale(config: ScaleConfig): Promise<ScaleFigures> {
  const cleanUps: (() => unknown)[] = [];
  const owner: Owner = { after: (cleanUp) => void cleanUps.push(cleanUp) };
  try {
    return await measure(owner, config);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

async function measure(owner: Owner, config: ScaleConfig): Promise<ScaleFigures> {
  const { processes, clients, kills } = config;
  const ollama = await startOllama(owner, embedWords);
  const cluster = await startCluster(owner, processes, {
    ...settings,
    DATABASE_URL: config.databaseUrl,
    EMBEDDING_PROVIDER: 'ollama',
    EMBEDDING_MODEL: 'words',
    OLLAMA_HOST: ollama.origin,
  });
  const caller = createCaller(owner, cluster.url);
  const run = createRun(caller);
  const warmedUp = Promise.withResolvers<void>();
  let isStopped = false;
  const work = Array.from({ length: clients }, async (_, client) => {
    const random = createRandom(config.seed, client);
    for (let step = 0; !isStopped; step += 1) {
      if (step === warmUpSteps) warmedUp.resolve();
      await run.step(client, step, random);
    }
  });
  await warmedUp.promise;
  const cpu = () => [cluster.cpuMs(), config.databaseCpuMs(), ownCpuMs()] as const;
  const before = cpu();
  const startMs = performance.now();
  const countsBefore = new Map([...caller.times].map(([tool, each]) => [tool, each.length]));
  const finished = delay(config.seconds * 1000);
  if (kills) {
    await delay(0.3 * config.seconds * 1000);
    await cluster.killOne();
  }
  await finished;
  isStopped = true;
  await Promise.all(work);
  const seconds = (performance.now() - startMs) / 1000;
  const after = cpu();
  const times = new Map([...caller.times].map(([tool, each]) => [tool, each.slice(countsBefore.get(tool))]));
  const calls = [...times.values()].reduce((sum, { length }) => sum + length, 0);
  const [servers, database, clientsCpu] = after.map((each, at) => (each - (before[at] ?? 0)) / calls);
  const retries = caller.retries();
  await run.finish();
  const stored = await listStored(caller, clients);
  return {
    processes,
    seconds,
    calls,
    times,
    retries,
    cpuMs: { servers: servers ?? 0, database: database ?? 0, clients: clientsCpu ?? 0 },
    written: run.written,
    reads: run.history.filter(({ kind }) => kind === 'read').length,
    faults: [...run.failures, ...findFaults(run.history, stored)],
  };
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
