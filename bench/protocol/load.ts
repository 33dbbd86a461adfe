import { cpuMicroseconds } from '../processes.ts';
import { quantile } from '../statistics.ts';
import type { Client } from './stdio-client.ts';

/** Figures of one round of one case. */
export interface Round {
  /** Latency of sequential calls. */
  p50Ms: number;
  p99Ms: number;
  /** Throughput of concurrent calls. */
  perSecond: number;
  /** CPU time of the server process, all threads, per concurrent call. */
  cpuMicroseconds: number;
}

export interface RoundSize {
  sequential: number;
  concurrent: number;
}

export const concurrency = 16;

export async function runRound(client: Client, pid: number, size: RoundSize): Promise<Round> {
  const latencies: number[] = [];
  for (let call = 0; call < size.sequential; call += 1) {
    const start = performance.now();
    await client.call();
    latencies.push(performance.now() - start);
  }

  let left = size.concurrent;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.call();
    }
  };
  const cpuBefore = cpuMicroseconds(pid);
  const start = performance.now();
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - start) / 1000;
  return {
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    perSecond: size.concurrent / seconds,
    cpuMicroseconds: (cpuMicroseconds(pid) - cpuBefore) / size.concurrent,
  };
}
