import { quantile, shuffle } from '../statistics.ts';
import { createRandom } from './rows.ts';

/** Times of calls of one kind, in milliseconds. */
export interface Timings {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Measures several kinds of calls alternately, so that a busy moment affects all of them. The order is random, because a full
 * scan empties the caches for the call after it. The first calls of each kind are not counted.
 */
export async function measureInterleaved<Name extends string>(
  calls: Readonly<Record<Name, (number: number) => unknown>>,
  count: number,
): Promise<Record<Name, Timings>> {
  const names = Object.keys(calls) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  const random = createRandom(names.length);
  for (let number = -warmUpRounds; number < count; number += 1) {
    for (const name of shuffle(names, random)) {
      const elapsed = await timed(() => calls[name](number < 0 ? warmUpOffset - number : number));
      if (number >= 0) times[name].push(elapsed);
    }
  }
  return Object.fromEntries(names.map((name) => [name, timingsOf(times[name])])) as Record<Name, Timings>;
}

export async function timed(call: () => unknown): Promise<number> {
  const start = now();
  await call();
  return now() - start;
}

/** Switches to CPU time, which is more reliable than wall time on a busy machine. `otherProcessesMs` is added to this process's time. */
export function countCpuTime(otherProcessesMs: () => number = () => 0): void {
  countsCpu = true;
  now = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000 + otherProcessesMs();
  };
}

export function isCpuTime(): boolean {
  return countsCpu;
}

let countsCpu = false;
let now = (): number => performance.now();

export function timingsOf(times: readonly number[]): Timings {
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

const warmUpRounds = 10;

/** Number of the first warm-up query. Warm-up queries differ from the measured ones, so that no measured query is cached. */
const warmUpOffset = 1_000_000;
