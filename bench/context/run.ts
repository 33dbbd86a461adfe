/**
 * The context store at scale, through the protocol: storing one by one and in batches, then searches with filters, words and
 * ids. Speaks MCP over stdio, so any server with the tools of 002 can be measured with the same data on the same machine.
 *
 *     node bench/context/run.ts                         this program, on SQLite and on PostgreSQL if there is one
 *     node bench/context/run.ts --backend sqlite        one of them
 *     node bench/context/run.ts --server "uvx mcp-context-server"   another server; DB_PATH names a new file
 *
 *     --entries 100000   --calls 100
 *
 * Without embeddings: they are made in the background and measured by bench/memory. Entries are generated from a fixed seed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTestDatabase, startPostgres } from '../../test/support/postgres.ts';
import { createWorkload, type Operation } from './workload.ts';

const { values: options } = parseArgs({
  options: {
    entries: { type: 'string', default: '100000' },
    calls: { type: 'string', default: '100' },
    backend: { type: 'string' },
    server: { type: 'string' },
  },
});
const entriesCount = Number(options.entries);
const callsCount = Number(options.calls);
/** A value that other servers do not know. */
const withoutEmbeddings = { EMBEDDING_PROVIDER: 'none' };

if (options.server !== undefined) await measureServer(options.server, options.server, {});
else {
  const program = fileURLToPath(new URL('../../bin/carrel.js', import.meta.url));
  const command = `${process.execPath} ${program} context`;
  if (options.backend !== 'postgresql') await measureServer('Carrel, SQLite', command, withoutEmbeddings);
  if (options.backend !== 'sqlite') await measurePostgres(command);
}

async function measurePostgres(command: string): Promise<void> {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') {
    console.log(`PostgreSQL is left out: ${postgres}`);
    return;
  }
  const database = await createTestDatabase(postgres);
  try {
    const settings = {
      ...withoutEmbeddings,
      STORAGE_BACKEND: 'postgresql',
      POSTGRESQL_CONNECTION_STRING: database.url,
    };
    await measureServer('Carrel, PostgreSQL', command, settings);
  } finally {
    await database.drop();
    await postgres.stop();
  }
}

async function measureServer(name: string, commandLine: string, settings: Record<string, string>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const [command = '', ...args] = commandLine.split(/\s+/);
  const transport = new StdioClientTransport({
    command,
    args,
    env: {
      ...(process.env as Record<string, string>),
      ...{ CARREL_HOME: folder, DB_PATH: join(folder, 'context.db'), ENABLE_FTS: 'true', ENABLE_HYBRID_SEARCH: 'true' },
      ...{ ENABLE_EMBEDDING_GENERATION: 'false', ENABLE_SUMMARY_GENERATION: 'false' },
      ...settings,
    },
  });
  const client = new Client({ name: 'bench', version: '1' });
  try {
    await client.connect(transport);
    const offered = new Set((await client.listTools()).tools.map((tool) => tool.name));
    console.log(`\n| ${name}: ${entriesCount} entries | calls | p50 ms | p99 ms |\n|---|---|---|---|`);
    for (const operation of createWorkload(entriesCount, callsCount)) {
      if (offered.has(operation.tool)) await measure(client, operation);
      else console.log(`| ${operation.name} | - | not offered | |`);
    }
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(client: Client, { name, tool, calls, input }: Operation): Promise<void> {
  const times: number[] = [];
  for (let done = 0; done < calls; done += 1) {
    const given = input();
    const start = performance.now();
    const result = await client.callTool({ name: tool, arguments: given }, { timeout: 120_000 });
    times.push(performance.now() - start);
    if (result.isError) throw new Error(`${name}: ${JSON.stringify(result.content).slice(0, 300)}`);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1);
  console.log(`| ${name} | ${calls} | ${at(0.5)} | ${at(0.99)} |`);
}
