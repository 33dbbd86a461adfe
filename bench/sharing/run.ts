/**
 * What the first to the tenth client on stdio cost, sharing one process and each alone: time until `initialize` is answered,
 * and memory of all processes together, before and after a search has loaded the models.
 *
 *     npm run build && node bench/sharing/run.ts [--clients 10]
 *
 * PSS counts a page that several processes have by their share of it: its sum is what the machine gives. Linux only.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({ options: { clients: { type: 'string', default: '10' } } });
const program = fileURLToPath(new URL('../../bin/carrel.js', import.meta.url));
const clientsMax = Number(options.clients);
/** Until what a start leaves for later is done. */
const settleMs = 2_500;

interface Client {
  child: ChildProcessWithoutNullStreams;
  ask(method: string, params: object): Promise<void>;
  startMs: number;
}

for (const args of [[], ['--alone']]) await measure(args);

async function measure(args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const clients: Client[] = [];
  try {
    // The third start is the first that finds all its code compiled.
    for (let warmUp = 0; warmUp < 3; warmUp += 1) {
      const client = await startClient(folder, args);
      await delay(settleMs);
      await end(client);
    }
    console.log(`\n${args.length === 0 ? 'sharing one process' : 'each alone'}\n`);
    console.log('| client | initialize answered after, ms | PSS of all, MB | its own process: PSS, RSS, MB |');
    console.log('|---|---|---|---|');
    for (let number = 1; number <= clientsMax; number += 1) {
      const client = await startClient(folder, args);
      clients.push(client);
      await delay(settleMs);
      const own = memoryOf(Number(client.child.pid));
      const all = processesOf(folder).reduce((sum, pid) => sum + memoryOf(pid).pss, 0);
      console.log(`| ${number} | ${client.startMs.toFixed(0)} | ${mb(all)} | ${mb(own.pss)}, ${mb(own.rss)} |`);
    }
    for (const { ask } of clients) {
      await ask('tools/call', { name: 'find', arguments: { query: 'what is the answer?' } });
    }
    await delay(settleMs);
    const all = processesOf(folder).reduce((sum, pid) => sum + memoryOf(pid).pss, 0);
    console.log(`\nafter a search by each: ${mb(all)} MB`);
  } finally {
    await Promise.all(clients.map(end));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function startClient(folder: string, args: readonly string[]): Promise<Client> {
  const start = performance.now();
  const child = spawn(process.execPath, [program, 'serve', ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, CARREL_HOME: join(folder, 'data') },
  });
  child.stderr.resume();
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  const ask = async (method: string, params: object): Promise<void> => {
    id += 1;
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    await lines.next();
  };
  const clientInfo = { name: 'bench', version: '1' };
  await ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  const startMs = performance.now() - start;
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return { child, ask, startMs };
}

async function end({ child }: Client): Promise<void> {
  const exited = once(child, 'exit');
  child.stdin.end();
  await exited;
}

/** All processes that were started for the folder. */
function processesOf(folder: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    try {
      const env = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/environ`, 'utf8') : '';
      return env.includes(`CARREL_HOME=${folder}`) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function memoryOf(pid: number): { pss: number; rss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]);
  return { pss: kilobytes('Pss') * 1024, rss: kilobytes('Rss') * 1024 };
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
