/**
 * Measures the latency that the bridge adds to Fess requests: `node bench/fess/run.ts [rounds]`, after `npm run build`. Linux only.
 *
 * Every round queries the same fake Fess in three ways: directly, through the built bridge over HTTP, and through a minimal proxy
 * on the official SDK. All send the same request. The added latency of the bridge or proxy is its median minus the median of the
 * direct requests. The result is the bridge's added latency divided by the proxy's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cpuMicroseconds } from '../processes.ts';
import { median as medianOf, quantile } from '../statistics.ts';
import { type Caller, connectDirect, connectMcp } from './callers.ts';

const rounds = Number(process.argv[2] ?? 7);
const clientCounts = [1, 32] as const;
const callsPerRound = { 1: 400, 32: 960 } as const;
const upstreamQuery =
  'num=20&start=0&fields.label=finance&facet.query=label%3A%22finance%22&facet.query=NOT+label%3A%22finance%22';
const root = join(import.meta.dirname, '../..');

const home = mkdtempSync(join(tmpdir(), 'carrel-bench-'));
const children: ChildProcess[] = [];
try {
  await measure();
} finally {
  for (const child of children) child.kill();
  rmSync(home, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const fessUrl = await start([join(root, 'bench/fess/fake-fess.ts')]);
  mkdirSync(join(home, '.mcp-feiss'));
  const domain = { id: 'finance', name: 'Finance', labelFilter: 'finance' };
  const limits = { maxInFlightRequests: 64 };
  // With the default, a slow call on a busy machine would return a job instead of a result.
  const timeouts = { longRunningThresholdMs: 60_000 };
  writeFileSync(
    join(home, '.mcp-feiss/config.json'),
    JSON.stringify({ fessBaseUrl: fessUrl, domain, limits, timeouts }),
  );
  const bridgeUrl = await start([join(root, 'bin/carrel.js'), 'fess', '--transport', 'http']);
  const bridge = children.at(-1);
  const proxyUrl = await start([join(root, 'bench/fess/sdk-proxy.ts'), fessUrl, upstreamQuery]);
  const proxy = children.at(-1);
  const pids: Record<string, number | undefined> = { bridge: bridge?.pid, proxy: proxy?.pid };

  for (const clients of clientCounts) {
    const callers: Record<string, Caller[]> = {
      direct: Array.from({ length: clients }, () =>
        connectDirect(`${fessUrl}/api/v1/documents?q=test&${upstreamQuery}`),
      ),
      bridge: await Promise.all(Array.from({ length: clients }, () => connectMcp(bridgeUrl))),
      proxy: await Promise.all(Array.from({ length: clients }, () => connectMcp(proxyUrl))),
    };
    const allLatencies: Record<string, number[]> = { direct: [], bridge: [], proxy: [] };
    const medians: Record<string, number[]> = { direct: [], bridge: [], proxy: [] };
    const cpu: Record<string, number> = { bridge: 0, proxy: 0 };
    for (let round = -1; round < rounds; round += 1) {
      for (const name of rotate(Object.keys(callers), round)) {
        const pid = pids[name];
        const before = pid === undefined ? 0 : cpuMicroseconds(pid);
        const latencies = await runRound(callers[name] ?? [], callsPerRound[clients]);
        // The first round warms up.
        if (round < 0) continue;
        allLatencies[name]?.push(...latencies);
        medians[name]?.push(medianOf(latencies));
        if (pid !== undefined) cpu[name] = (cpu[name] ?? 0) + cpuMicroseconds(pid) - before;
      }
    }
    report(clients, allLatencies, medians, cpu);
    for (const caller of Object.values(callers).flat()) caller.close();
  }
}

async function runRound(callers: readonly Caller[], calls: number): Promise<number[]> {
  const latencies: number[] = [];
  let left = calls;
  await Promise.all(
    callers.map(async (caller) => {
      while (left > 0) {
        left -= 1;
        const start = performance.now();
        await caller.call();
        latencies.push(performance.now() - start);
      }
    }),
  );
  return latencies;
}

function report(
  clients: number,
  latencies: Record<string, number[]>,
  medians: Record<string, number[]>,
  cpu: Record<string, number>,
): void {
  const median = (name: string): number => medianOf(medians[name] ?? []);
  console.log(`\n${clients} client${clients === 1 ? '' : 's'}`);
  for (const name of ['direct', 'bridge', 'proxy']) {
    const values = latencies[name] ?? [];
    const parts = [`p50 ${median(name).toFixed(3)} ms`, `p99 ${quantile(values, 0.99).toFixed(3)} ms`];
    if (name !== 'direct') {
      parts.push(`adds ${(median(name) - median('direct')).toFixed(3)} ms`);
      parts.push(`cpu ${((cpu[name] ?? 0) / values.length).toFixed(0)} µs a call`);
    }
    console.log(`  ${name.padEnd(8)}${parts.join('  ')}`);
  }
  const ratio = (median('bridge') - median('direct')) / (median('proxy') - median('direct'));
  console.log(`  bridge adds ${ratio.toFixed(2)} times what the minimal proxy adds`);
}

function rotate<Item>(items: readonly Item[], shift: number): Item[] {
  const at = (shift + items.length) % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

/** Starts a program and returns the address that it prints on stderr. */
function start(args: readonly string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, CARREL_HOME: join(home, 'data') };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      const url = /listening on (\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error(`${args[0]} ended: ${text}`)));
  });
}
