/**
 * Measures the context store at scale. Stores entries one by one and in batches, then searches by filters, words and ids. All
 * calls use MCP over stdio, so any server with the tools of mcp-context-server can be measured with the same data.
 *
 *     node bench/context/run.ts                         this program, on SQLite and, if available, PostgreSQL
 *     node bench/context/run.ts --backend sqlite        one of them
 *     node bench/context/run.ts --against "uvx mcp-context-server"   also another server, with the same settings
 *
 *     --entries 100000   --calls 100   --only fts,hybrid (the store is always filled first)
 *
 * Reports wall time per call, and (on Linux) the CPU time of the server and of PostgreSQL. On a busy machine, only CPU times are
 * comparable. If two servers are measured, they alternate, a few calls each. Embeddings and reranking are off;
 * bench/memory and bench/speed measure them. Entries come from a fixed seed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as PostgresClient } from 'pg';
import { createTestDatabase, type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { parentOf, treeCpuMs } from '../processes.ts';
import { quantile } from '../statistics.ts';
import { createWorkload, type Operation } from './workload.ts';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    calls: { type: 'string', default: '100' },
    backend: { type: 'string' },
    against: { type: 'string' },
    only: { type: 'string' },
  },
});
const entriesCount = Number(options.entries);
const callsCount = Number(options.calls);
const only = options.only?.split(',');

interface Times {
  readonly p50: number;
  readonly p99: number;
  /** CPU time per call in milliseconds, of the server and its helpers together. */
  readonly cpu: number;
  readonly helpersCpu: number;
}

/** A database for one server. */
interface Backend {
  readonly settings: Record<string, string>;
  /** Ids of other processes that work for the server, such as PostgreSQL. */
  readonly helperPids: readonly number[];
  /** Runs the database's background work (vacuum, checkpoint) now, so that it does not disturb the measurement. */
  readonly finishWork?: (() => Promise<void>) | undefined;
}

/** A measured server. */
interface Subject extends Omit<Backend, 'settings'> {
  readonly command: string;
  readonly client: Client;
  /** Names of the server's tools. */
  readonly toolNames: ReadonlySet<string>;
  /** Ids of the server's processes. */
  readonly serverPids: readonly number[];
}

/** Measurements of one operation so far, in milliseconds: the wall time of each call, and the CPU time of all calls. */
interface Samples {
  readonly times: number[];
  serverCpuMs: number;
  helpersCpuMs: number;
}

const roundsPerOperation = 10;

/** Warm-up calls per operation: V8 optimises until about the 2,000th call. With slow calls, `warmUpMs` ends it earlier. */
const warmUpCalls = 2_500;
const warmUpMs = 60_000;
const warmUpBatch = 50;

const program = fileURLToPath(new URL('../../bin/carrel.js', import.meta.url));
const carrelCommand = `${process.execPath} ${program} context`;
/** Settings that other servers don't support. */
const carrelSettings = { EMBEDDING_PROVIDER: 'none' };

if (options.backend !== 'postgresql') await compare('SQLite', (use) => use({ settings: {}, helperPids: [] }));
if (options.backend !== 'sqlite') {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') console.log(`Skipping PostgreSQL: ${postgres}`);
  else {
    await compare('PostgreSQL', (use) => withDatabase(postgres, use));
    await postgres.stop();
  }
}

type TimesByOperation = Map<string, Times>;
type WithBackend = (use: (backend: Backend) => Promise<void>) => Promise<void>;

async function compare(databaseName: string, withBackend: WithBackend): Promise<void> {
  const commands = [carrelCommand, ...(options.against ? [options.against] : [])];
  const results: TimesByOperation[] = [];
  const startNext = async (subjects: readonly Subject[]): Promise<void> => {
    const command = commands[subjects.length];
    if (command === undefined) results.push(...(await measureAll(subjects)));
    else await withBackend((backend) => withServer(command, backend, (subject) => startNext([...subjects, subject])));
  };
  await startNext([]);
  const [carrel, other] = results;
  const figures = 'p50 / p99 ms | CPU ms (server + database)';
  console.log(
    `\n| ${databaseName}, ${entriesCount} entries | Carrel: ${figures} |${other ? ` other: ${figures} | CPU × |` : ''}`,
  );
  console.log(`|---|---|---|${other ? '---|---|---|' : ''}`);
  for (const [name, times] of carrel ?? []) {
    const otherTimes = other?.get(name);
    const ratio = otherTimes ? (otherTimes.cpu / times.cpu).toFixed(1) : '';
    console.log(
      `| ${name} | ${formatTimes(times)} |${other ? ` ${otherTimes ? formatTimes(otherTimes) : 'not offered | '} | ${ratio} |` : ''}`,
    );
  }
}

function formatTimes({ p50, p99, cpu, helpersCpu }: Times): string {
  const parts = helpersCpu > 0 ? ` (${(cpu - helpersCpu).toFixed(2)} + ${helpersCpu.toFixed(2)})` : '';
  return `${p50.toFixed(1)} / ${p99.toFixed(1)} | ${cpu.toFixed(2)}${parts}`;
}

async function withDatabase(postgres: PostgresServer, use: (backend: Backend) => Promise<void>): Promise<void> {
  const database = await createTestDatabase(postgres);
  const client = new PostgresClient({ connectionString: database.url });
  await client.connect();
  const [row] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  const server = row && parentOf(row.pid);
  const helperPids = server === undefined ? [] : [server];
  const finishWork = async () => {
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  };
  try {
    const settings = { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: database.url };
    await use({ settings, helperPids, finishWork });
  } finally {
    await client.end();
    await database.drop();
  }
}

async function withServer(
  commandLine: string,
  { settings, helperPids, finishWork }: Backend,
  use: (subject: Subject) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const [command = '', ...args] = commandLine.split(/\s+/);
  const transport = new StdioClientTransport({
    command,
    args,
    env: {
      ...(process.env as Record<string, string>),
      CARREL_HOME: folder,
      DB_PATH: join(folder, 'context.db'),
      ENABLE_FTS: 'true',
      ENABLE_HYBRID_SEARCH: 'true',
      ENABLE_EMBEDDING_GENERATION: 'false',
      ENABLE_SUMMARY_GENERATION: 'false',
      ENABLE_RERANKING: 'false',
      ...settings,
      ...(commandLine === carrelCommand ? carrelSettings : {}),
    },
  });
  const client = new Client({ name: 'bench', version: '1' });
  try {
    await client.connect(transport);
    const toolNames = new Set((await client.listTools()).tools.map((tool) => tool.name));
    await use({ command, client, toolNames, serverPids: [transport.pid ?? 0], helperPids, finishWork });
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills every server, then alternates between them, a few calls each, because a machine's speed varies. */
async function measureAll(subjects: readonly Subject[]): Promise<TimesByOperation[]> {
  const results = subjects.map((): TimesByOperation => new Map());
  const workloads = subjects.map(() => createWorkload(entriesCount, callsCount));
  for (const [position, { name, tool, calls }] of (workloads[0] ?? []).entries()) {
    const isFilling = name.includes('batch');
    const isSelected = only === undefined || isFilling || only.some((part) => name.includes(part));
    if (!isSelected) continue;
    const allSamples = subjects.map(() => ({ times: [] as number[], serverCpuMs: 0, helpersCpuMs: 0 }));
    const start = performance.now();
    const isWarmingUp = (done: number) => !isFilling && done < warmUpCalls && performance.now() - start < warmUpMs;
    for (let done = 0; isWarmingUp(done); done += warmUpBatch) {
      for (const [index, subject] of subjects.entries()) {
        const operation = workloads[index]?.[position];
        if (operation && subject.toolNames.has(tool)) await runCalls(subject, operation, warmUpBatch);
      }
    }
    const batch = isFilling ? calls : Math.max(1, Math.ceil(calls / roundsPerOperation));
    for (let done = 0; done < calls; done += batch) {
      for (const [index, subject] of subjects.entries()) {
        const [operation, samples] = [workloads[index]?.[position], allSamples[index]];
        if (operation && samples && subject.toolNames.has(tool))
          await runCalls(subject, operation, Math.min(batch, calls - done), samples);
      }
    }
    for (const [index, subject] of subjects.entries()) {
      const samples = allSamples[index];
      if (samples === undefined || samples.times.length === 0) continue;
      const times = timesOf(samples);
      results[index]?.set(name, times);
      // Progress on stderr: the table appears only at the end.
      console.error(`${subject.command}: ${name}: ${formatTimes(times)}`);
      if (isFilling) await subject.finishWork?.();
    }
  }
  return results;
}

async function runCalls(
  { client, serverPids, helperPids }: Subject,
  { name, tool, input }: Operation,
  calls: number,
  samples: Samples = { times: [], serverCpuMs: 0, helpersCpuMs: 0 },
): Promise<void> {
  const before = { server: treeCpuMs(serverPids), helpers: treeCpuMs(helperPids) };
  for (let done = 0; done < calls; done += 1) {
    const args = input();
    const start = performance.now();
    const result = await client.callTool({ name: tool, arguments: args }, { timeout: 120_000 });
    samples.times.push(performance.now() - start);
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 300)}`);
  }
  samples.serverCpuMs += treeCpuMs(serverPids) - before.server;
  samples.helpersCpuMs += treeCpuMs(helperPids) - before.helpers;
}

function timesOf({ times, serverCpuMs, helpersCpuMs }: Samples): Times {
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
  return { p50, p99, cpu: (serverCpuMs + helpersCpuMs) / times.length, helpersCpu: helpersCpuMs / times.length };
}
