import { cpuMicroseconds } from './process-meter.ts';
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
  alone: number;
  together: number;
}

export const overlapping = 16;

export async function runRound(client: Client, pid: number, size: RoundSize): Promise<Round> {
  const latencies: number[] = [];
  for (let call = 0; call < size.alone; call += 1) {
    const start = performance.now();
    await client.call();
    latencies.push(performance.now() - start);
  }
  latencies.sort((left, right) => left - right);

  let left = size.together;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.call();
    }
  };
  const cpuBefore = cpuMicroseconds(pid);
  const start = performance.now();
  await Promise.all(Array.from({ length: overlapping }, lane));
  const seconds = (performance.now() - start) / 1000;
  return {
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    perSecond: size.together / seconds,
    cpuMicroseconds: (cpuMicroseconds(pid) - cpuBefore) / size.together,
  };
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((left, right) => left - right),
    0.5,
  );
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
