/**
 * Measures the context store at scale, through the protocol: stores entries one by one and in batches, then searches by filters,
 * words and ids. It speaks MCP over stdio, so any server with the tools of mcp-context-server can be measured with the same data.
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
import { cpuMilliseconds, parentOf } from './process-tree.ts';
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

/** Where a server stores its entries. */
interface Place {
  readonly settings: Record<string, string>;
  /** Ids of other processes that work for the server, such as PostgreSQL. */
  readonly helpers: readonly number[];
  /** Runs the database's background work (vacuum, checkpoint) now, so that it does not disturb the measurement. */
  readonly finishWork?: (() => Promise<void>) | undefined;
}

/** A measured server. */
interface Subject extends Omit<Place, 'settings'> {
  readonly command: string;
  readonly client: Client;
  readonly offered: ReadonlySet<string>;
  readonly own: readonly number[];
}

/** The calls of one operation so far: wall time of each, and CPU time of all, in milliseconds. */
interface Taking {
  readonly times: number[];
  own: number;
  helpers: number;
}

/** Rounds per operation. */
const turns = 10;

/**
 * Warm-up calls per operation: V8 optimises until about the 2,000th call. If calls are slow, the warm-up ends at the time limit
 * below, after the same number of calls for both servers.
 */
const warmingCalls = 2_500;
const warmingMs = 60_000;
const warmingTurn = 50;

const program = fileURLToPath(new URL('../../bin/carrel.js', import.meta.url));
const ours = `${process.execPath} ${program} context`;
/** Settings for Carrel only: other servers don't know this value. */
const ourSettings = { EMBEDDING_PROVIDER: 'none' };

if (options.backend !== 'postgresql') await compare('SQLite', (use) => use({ settings: {}, helpers: [] }));
if (options.backend !== 'sqlite') {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') console.log(`Skipping PostgreSQL: ${postgres}`);
  else {
    await compare('PostgreSQL', (use) => withDatabase(postgres, use));
    await postgres.stop();
  }
}

type Measured = Map<string, Times>;
type WithPlace = (use: (place: Place) => Promise<void>) => Promise<void>;

async function compare(backend: string, withPlace: WithPlace): Promise<void> {
  const commands = [ours, ...(options.against ? [options.against] : [])];
  const measured: Measured[] = [];
  const withAll = async (subjects: readonly Subject[]): Promise<void> => {
    const command = commands[subjects.length];
    if (command === undefined) measured.push(...(await measureAll(subjects)));
    else await withPlace((place) => withServer(command, place, (subject) => withAll([...subjects, subject])));
  };
  await withAll([]);
  const [own, other] = measured;
  const figures = 'p50 / p99 ms | CPU ms (server + database)';
  console.log(
    `\n| ${backend}, ${entriesCount} entries | Carrel: ${figures} |${other ? ` other: ${figures} | CPU × |` : ''}`,
  );
  console.log(`|---|---|---|${other ? '---|---|---|' : ''}`);
  for (const [name, times] of own ?? []) {
    const theirs = other?.get(name);
    const ratio = theirs ? (theirs.cpu / times.cpu).toFixed(1) : '';
    console.log(
      `| ${name} | ${formatTimes(times)} |${other ? ` ${theirs ? formatTimes(theirs) : 'not offered | '} | ${ratio} |` : ''}`,
    );
  }
}

function formatTimes({ p50, p99, cpu, helpersCpu }: Times): string {
  const parts = helpersCpu > 0 ? ` (${(cpu - helpersCpu).toFixed(2)} + ${helpersCpu.toFixed(2)})` : '';
  return `${p50.toFixed(1)} / ${p99.toFixed(1)} | ${cpu.toFixed(2)}${parts}`;
}

async function withDatabase(postgres: PostgresServer, use: (place: Place) => Promise<void>): Promise<void> {
  const database = await createTestDatabase(postgres);
  const client = new PostgresClient({ connectionString: database.url });
  await client.connect();
  const [row] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  const server = row && parentOf(row.pid);
  const helpers = server === undefined ? [] : [server];
  const finishWork = async () => {
    await client.query('VACUUM (ANALYZE)');
    await client.query('CHECKPOINT');
  };
  try {
    const settings = { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: database.url };
    await use({ settings, helpers, finishWork });
  } finally {
    await client.end();
    await database.drop();
  }
}

async function withServer(
  commandLine: string,
  { settings, helpers, finishWork }: Place,
  use: (subject: Subject) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const [command = '', ...args] = commandLine.split(/\s+/);
  const transport = new StdioClientTransport({
    command,
    args,
    env: {
      ...(process.env as Record<string, string>),
      ...{ CARREL_HOME: folder, DB_PATH: join(folder, 'context.db'), ENABLE_FTS: 'true', ENABLE_HYBRID_SEARCH: 'true' },
      ...{ ENABLE_EMBEDDING_GENERATION: 'false', ENABLE_SUMMARY_GENERATION: 'false', ENABLE_RERANKING: 'false' },
      ...settings,
      ...(commandLine === ours ? ourSettings : {}),
    },
  });
  const client = new Client({ name: 'bench', version: '1' });
  try {
    await client.connect(transport);
    const offered = new Set((await client.listTools()).tools.map((tool) => tool.name));
    await use({ command, client, offered, own: [transport.pid ?? 0], helpers, finishWork });
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills every server, then alternates between them, a few calls each, because a machine's speed varies. */
async function measureAll(subjects: readonly Subject[]): Promise<Measured[]> {
  const measured = subjects.map((): Measured => new Map());
  const workloads = subjects.map(() => createWorkload(entriesCount, callsCount));
  for (const [place, { name, tool, calls }] of (workloads[0] ?? []).entries()) {
    const isFilling = name.includes('batch');
    const isAsked = only === undefined || isFilling || only.some((part) => name.includes(part));
    if (!isAsked) continue;
    const takings = subjects.map(() => ({ times: [] as number[], own: 0, helpers: 0 }));
    const start = performance.now();
    const mayWarm = (done: number) => !isFilling && done < warmingCalls && performance.now() - start < warmingMs;
    for (let done = 0; mayWarm(done); done += warmingTurn) {
      for (const [at, subject] of subjects.entries()) {
        const operation = workloads[at]?.[place];
        if (operation && subject.offered.has(tool)) await take(subject, operation, warmingTurn);
      }
    }
    const turn = isFilling ? calls : Math.max(1, Math.ceil(calls / turns));
    for (let done = 0; done < calls; done += turn) {
      for (const [at, subject] of subjects.entries()) {
        const [operation, taking] = [workloads[at]?.[place], takings[at]];
        if (operation && taking && subject.offered.has(tool))
          await take(subject, operation, Math.min(turn, calls - done), taking);
      }
    }
    for (const [at, subject] of subjects.entries()) {
      const taking = takings[at];
      if (taking === undefined || taking.times.length === 0) continue;
      const times = timesOf(taking);
      measured[at]?.set(name, times);
      // Progress on stderr: the table appears only at the end.
      console.error(`${subject.command}: ${name}: ${formatTimes(times)}`);
      if (isFilling) await subject.finishWork?.();
    }
  }
  return measured;
}

async function take(
  { client, own, helpers }: Subject,
  { name, tool, input }: Operation,
  calls: number,
  taking: Taking = { times: [], own: 0, helpers: 0 },
): Promise<void> {
  const before = { own: cpuMilliseconds(own), helpers: cpuMilliseconds(helpers) };
  for (let done = 0; done < calls; done += 1) {
    const given = input();
    const start = performance.now();
    const result = await client.callTool({ name: tool, arguments: given }, { timeout: 120_000 });
    taking.times.push(performance.now() - start);
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 300)}`);
  }
  taking.own += cpuMilliseconds(own) - before.own;
  taking.helpers += cpuMilliseconds(helpers) - before.helpers;
}

function timesOf({ times, own, helpers }: Taking): Times {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), cpu: (own + helpers) / sorted.length, helpersCpu: helpers / sorted.length };
}
