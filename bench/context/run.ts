/**
 * The context store at scale, through the protocol: storing one by one and in batches, then searches with filters, words and
 * ids. Speaks MCP over stdio, so any server with the tools of 002 can be measured with the same data on the same machine.
 *
 *     node bench/context/run.ts                         this program, on SQLite and on PostgreSQL if there is one
 *     node bench/context/run.ts --backend sqlite        one of them
 *     node bench/context/run.ts --against "uvx mcp-context-server"   and another server, which gets the same settings
 *
 *     --entries 100000   --calls 100   --only fts,hybrid (and what fills the store)
 *
 * Tells for each call the time on the wall and the CPU time of the server and, on PostgreSQL, of the database (Linux only): of
 * two servers on a busy machine, only their sum can be compared. Without embeddings and reranking, which are
 * measured by bench/memory and bench/speed. Entries are generated from a fixed seed.
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
  /** Of the server and its helpers, for one call. */
  readonly cpu: number;
  readonly helpersCpu: number;
}

/** Where a server keeps its entries. */
interface Place {
  readonly settings: Record<string, string>;
  /** Processes that work for the server, besides its own. */
  readonly helpers: readonly number[];
}

const program = fileURLToPath(new URL('../../bin/carrel.js', import.meta.url));
const ours = `${process.execPath} ${program} context`;
/** A value that other servers do not know. */
const ourSettings = { EMBEDDING_PROVIDER: 'none' };

if (options.backend !== 'postgresql') await compare('SQLite', (measure) => measure({ settings: {}, helpers: [] }));
if (options.backend !== 'sqlite') {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') console.log(`PostgreSQL is left out: ${postgres}`);
  else {
    await compare('PostgreSQL', (measure) => withDatabase(postgres, measure));
    await postgres.stop();
  }
}

type Measured = Map<string, Times>;

async function compare(
  backend: string,
  withPlace: (measure: (place: Place) => Promise<Measured>) => Promise<Measured>,
): Promise<void> {
  const own = await withPlace((place) => measureServer(ours, { ...place.settings, ...ourSettings }, place.helpers));
  const { against } = options;
  const other = against && (await withPlace((place) => measureServer(against, place.settings, place.helpers)));
  const figures = 'p50 / p99 ms | CPU ms (server + database)';
  console.log(
    `\n| ${backend}, ${entriesCount} entries | Carrel: ${figures} |${other ? ` other: ${figures} | CPU × |` : ''}`,
  );
  console.log(`|---|---|---|${other ? '---|---|---|' : ''}`);
  for (const [name, times] of own) {
    const theirs = other ? other.get(name) : undefined;
    const ratio = theirs ? (theirs.cpu / times.cpu).toFixed(1) : '';
    console.log(
      `| ${name} | ${shown(times)} |${other ? ` ${theirs ? shown(theirs) : 'not offered | '} | ${ratio} |` : ''}`,
    );
  }
}

function shown({ p50, p99, cpu, helpersCpu }: Times): string {
  const parts = helpersCpu > 0 ? ` (${(cpu - helpersCpu).toFixed(2)} + ${helpersCpu.toFixed(2)})` : '';
  return `${p50.toFixed(1)} / ${p99.toFixed(1)} | ${cpu.toFixed(2)}${parts}`;
}

async function withDatabase(postgres: PostgresServer, measure: (place: Place) => Promise<Measured>): Promise<Measured> {
  const database = await createTestDatabase(postgres);
  const client = new PostgresClient({ connectionString: database.url });
  await client.connect();
  const [row] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  const server = row && parentOf(row.pid);
  const helpers = server === undefined ? [] : [server];
  try {
    const settings = { STORAGE_BACKEND: 'postgresql', POSTGRESQL_CONNECTION_STRING: database.url };
    return await measure({ settings, helpers });
  } finally {
    await client.end();
    await database.drop();
  }
}

async function measureServer(
  commandLine: string,
  settings: Record<string, string>,
  helpers: readonly number[],
): Promise<Measured> {
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
    },
  });
  const client = new Client({ name: 'bench', version: '1' });
  const measured: Measured = new Map();
  try {
    await client.connect(transport);
    const offered = new Set((await client.listTools()).tools.map((tool) => tool.name));
    const own = [transport.pid ?? 0];
    for (const operation of createWorkload(entriesCount, callsCount)) {
      const { name, tool } = operation;
      const isAsked = only === undefined || name.startsWith('store') || only.some((part) => name.includes(part));
      if (!(isAsked && offered.has(tool))) continue;
      const times = await measure(client, operation, own, helpers);
      measured.set(name, times);
      // It may take long until the table comes.
      console.error(`${command}: ${name}: ${shown(times)}`);
    }
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return measured;
}

async function measure(
  client: Client,
  { name, tool, calls, input }: Operation,
  own: readonly number[],
  helpers: readonly number[],
): Promise<Times> {
  const times: number[] = [];
  const before = { own: cpuMilliseconds(own), helpers: cpuMilliseconds(helpers) };
  for (let done = 0; done < calls; done += 1) {
    const given = input();
    const start = performance.now();
    const result = await client.callTool({ name: tool, arguments: given }, { timeout: 120_000 });
    times.push(performance.now() - start);
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 300)}`);
  }
  const helpersCpu = (cpuMilliseconds(helpers) - before.helpers) / calls;
  const cpu = (cpuMilliseconds(own) - before.own) / calls + helpersCpu;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), cpu, helpersCpu };
}
