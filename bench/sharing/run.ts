/**
 * Measures what each of ten stdio clients costs: the time until `initialize` is answered, and the memory of all processes before
 * and after a search loads the models. First, the clients share a process; then each has its own.
 *
 *     npm run build && node bench/sharing/run.ts [--clients 10]
 *
 * Memory is measured as PSS, which divides shared pages among their processes, so the sum is the real usage. Linux only.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Client, startClient } from './client.ts';

const { values: options } = parseArgs({ options: { clients: { type: 'string', default: '10' } } });
const clientsMax = Number(options.clients);
/** Time after which a new process has done its deferred start-up work. */
const startUpMs = 2_500;

for (const args of [[], ['--alone']]) await measure(args);

async function measure(args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
  const clients: Client[] = [];
  try {
    // The first start fills the compile cache, so it is not measured.
    const first = await startClient(folder, args);
    await delay(startUpMs);
    await first.end();
    console.log(`\n${args.length === 0 ? 'sharing one process' : 'each alone'}\n`);
    console.log('| client | initialize answered after, ms | PSS of all, MB | its own process: PSS, RSS, MB |');
    console.log('|---|---|---|---|');
    for (let number = 1; number <= clientsMax; number += 1) {
      const client = await startClient(folder, args);
      clients.push(client);
      await delay(startUpMs);
      const relay = memoryOf(client.pid);
      const all = processesOf(folder).reduce((sum, pid) => sum + memoryOf(pid).pss, 0);
      console.log(`| ${number} | ${client.startMs.toFixed(0)} | ${mb(all)} | ${mb(relay.pss)}, ${mb(relay.rss)} |`);
    }
    for (const { request } of clients) {
      await request('tools/call', { name: 'find', arguments: { query: 'what is the answer?' } });
    }
    await delay(startUpMs);
    const all = processesOf(folder).reduce((sum, pid) => sum + memoryOf(pid).pss, 0);
    console.log(`\nafter a search by each: ${mb(all)} MB`);
  } finally {
    await Promise.all(clients.map((client) => client.end()));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Returns the ids of all processes that use the folder. */
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
