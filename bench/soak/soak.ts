import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../test/fuzz/random.ts';
import { createFaultControl } from './fault-control.ts';
import { createLedger } from './ledger.ts';
import { startSoaked } from './soaked-program.ts';

export interface SoakConfig {
  readonly minutes: number;
  readonly seed: number;
  readonly dataDir: string;
  /** That it is started in. */
  readonly folder: string;
  readonly env?: Record<string, string>;
  /** The shim, where it can be compiled. */
  readonly faults?: { readonly env: Record<string, string>; readonly controlFile: string } | undefined;
  /** A disk that may be filled. */
  readonly fillable?: string | undefined;
  readonly restartDatabase?: (() => Promise<void>) | undefined;
}

export interface SoakReport {
  readonly acknowledged: number;
  /** Calls that were cut off, so that nobody knows. */
  readonly unknown: number;
  readonly verified: number;
  readonly refusals: Record<string, number>;
  readonly nemesis: Record<string, number>;
  /** Of one process in the last third, in which none is killed. */
  readonly memoryGrowthMbPerMinute: number;
  readonly faults: readonly string[];
}

const clients = 8;
/** Settings that keep the load on what is stored: no model, no limit on calls. */
const quiet = { EMBEDDING_PROVIDER: 'none', RATE_LIMIT_NOTES: '100000' };

export async function soak(config: SoakConfig): Promise<SoakReport> {
  const random = createRandom(config.seed, 0);
  const control = config.faults && createFaultControl(config.faults.controlFile);
  const env = { ...quiet, ...config.env, ...config.faults?.env };
  const program = await startSoaked(env, { folder: config.folder, dataDir: config.dataDir });
  const ledger = createLedger();
  const nemesis: Record<string, number> = {};
  const endMs = performance.now() + config.minutes * 60_000;
  const calmMs = performance.now() + config.minutes * 40_000;
  const samples: { minute: number; megabytes: number }[] = [];
  let number = 0;
  let isOver = false;

  const client = async (): Promise<void> => {
    while (!isOver) {
      number += 1;
      await ledger.write(program, number);
    }
  };

  const moves: Record<string, () => Promise<void>> = {
    async pause() {
      program.signal('SIGSTOP');
      await delay(random.below(1500));
      program.signal('SIGCONT');
    },
  };
  if (control !== undefined) {
    moves['fault'] = async () => {
      control.set({ at: 1 + random.below(200), error: random.pick([5, 28, 122]), sticky: true });
      await delay(random.below(300));
      control.set({ at: 0 });
    };
    moves['clock'] = async () => control.moveClock(random.pick([-86_400, 86_400, 3_600, -5, 0]));
  }
  const { fillable, restartDatabase } = config;
  if (fillable !== undefined) moves['full disk'] = () => fillFor(join(fillable, 'ballast'), 1000);
  if (restartDatabase !== undefined) moves['database restart'] = restartDatabase;
  const kill = async (): Promise<void> => {
    await program.restart();
    await ledger.verify(program);
  };

  const work = Array.from({ length: clients }, client);
  while (performance.now() < endMs && ledger.faults.length === 0) {
    await delay(500 + random.below(1500));
    const isCalm = performance.now() > calmMs;
    const names = [...Object.keys(moves), ...(isCalm ? [] : ['kill', 'kill'])];
    const name = random.pick(names);
    nemesis[name] = (nemesis[name] ?? 0) + 1;
    await (moves[name] ?? kill)();
    const { acknowledged, verified } = ledger.counts;
    process.stderr.write(`${name}: ${acknowledged} acknowledged, ${verified} looked for\n`);
    if (isCalm) samples.push({ minute: performance.now() / 60_000, megabytes: program.memoryNow() / 1e6 });
  }
  isOver = true;
  await Promise.all(work);
  control?.set({ at: 0 });
  await program.restart();
  await ledger.verify(program);
  await program.stop();
  control?.close();
  const memoryGrowthMbPerMinute = Math.round(slope(samples.slice(Math.floor(samples.length / 4))) * 10) / 10;
  return { ...ledger.counts, refusals: ledger.refusals, nemesis, memoryGrowthMbPerMinute, faults: ledger.faults };
}

async function fillFor(path: string, ms: number): Promise<void> {
  const file = openSync(path, 'w');
  try {
    for (const block = Buffer.alloc(1024 * 1024); ; ) writeSync(file, block);
  } catch {
    // Full.
  } finally {
    closeSync(file);
  }
  await delay(ms);
  rmSync(path);
}

/** Least squares. */
function slope(samples: readonly { minute: number; megabytes: number }[]): number {
  const count = samples.length;
  if (count < 2) return 0;
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / count;
  const [x, y] = [mean(samples.map(({ minute }) => minute)), mean(samples.map(({ megabytes }) => megabytes))];
  const spread = samples.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
  const together = samples.reduce((sum, { minute, megabytes }) => sum + (minute - x) * (megabytes - y), 0);
  return spread === 0 ? 0 : together / spread;
}
