import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../test/fuzz/random.ts';
import { median } from '../statistics.ts';
import { createFaultControl } from './fault-control.ts';
import { createLedger } from './ledger.ts';
import { startProgramUnderTest } from './program-under-test.ts';

export interface SoakConfig {
  readonly minutes: number;
  readonly seed: number;
  readonly dataDir: string;
  /** Working directory of the program. */
  readonly folder: string;
  readonly env?: Record<string, string>;
  /** The fault injection library (faults.c), if it can be compiled. */
  readonly faults?: { readonly env: Record<string, string>; readonly controlFile: string } | undefined;
  /** Path of a disk that may be filled. */
  readonly fillable?: string | undefined;
  readonly restartDatabase?: (() => Promise<void>) | undefined;
}

export interface SoakReport {
  readonly acknowledged: number;
  /** Number of interrupted calls, whose outcome is unknown. */
  readonly unknown: number;
  readonly verified: number;
  readonly refusals: Record<string, number>;
  readonly nemesis: Record<string, number>;
  /** Memory of the process once warm and at the end. Measured in the last third of the run, in which it is not killed. */
  readonly memoryMb: { readonly warm: number; readonly end: number } | undefined;
  readonly faults: readonly string[];
}

const { EIO, ENOSPC, EDQUOT } = constants.errno;
const clients = 8;
/** Max writes, so that the load itself does not fill the disk. */
const writesMax = 100_000;
/** How many writes a fast machine may be ahead of an even pace. */
const writesAheadMax = 2_000;
const samplesMin = 60;
/** Max growth of memory, as a factor: garbage and caches may grow this much. */
const growthMax = 1.15;
const settings = {
  // Keeps the load on storage.
  EMBEDDING_PROVIDER: 'none',
  RATE_LIMIT_NOTES: '100000',
  // As in the container. Otherwise, garbage accumulates for many minutes and looks like a leak.
  NODE_OPTIONS: '--max-semi-space-size=16',
};

export async function soak(config: SoakConfig): Promise<SoakReport> {
  const random = createRandom(config.seed, 0);
  const control = config.faults && createFaultControl(config.faults.controlFile);
  const env = { ...settings, ...config.env, ...config.faults?.env };
  const program = await startProgramUnderTest(env, { folder: config.folder, dataDir: config.dataDir });
  const ledger = createLedger();
  const nemesis: Record<string, number> = {};
  const startMs = performance.now();
  const endMs = startMs + config.minutes * 60_000;
  const noKillsFromMs = startMs + (2 / 3) * config.minutes * 60_000;
  const megabytes: number[] = [];
  let writesStarted = 0;
  let isOver = false;

  const writesDue = (nowMs: number): number => (writesMax * (nowMs - startMs)) / (endMs - startMs);
  let runningCheck: Promise<void> | undefined;
  const check = async (): Promise<void> => {
    runningCheck = ledger.verify(program);
    await runningCheck;
    runningCheck = undefined;
  };

  const client = async (): Promise<void> => {
    while (!isOver) {
      // Clients wait for a check; otherwise unchecked writes would pile up.
      await runningCheck;
      while (!isOver && writesStarted > writesDue(performance.now()) + writesAheadMax) await delay(20);
      writesStarted += 1;
      await ledger.write(program, writesStarted);
    }
  };

  const faultActions: Record<string, () => Promise<void>> = {
    async pause() {
      program.signal('SIGSTOP');
      await delay(random.below(1500));
      program.signal('SIGCONT');
    },
  };
  if (control !== undefined) {
    faultActions['fault'] = async () => {
      control.set({ at: 1 + random.below(200), error: random.pick([EIO, ENOSPC, EDQUOT]), sticky: true });
      await delay(random.below(300));
      control.set({ at: 0 });
    };
    faultActions['clock'] = async () => control.moveClock(random.pick([-86_400, 86_400, 3_600, -5, 0]));
  }
  const { fillable, restartDatabase } = config;
  if (fillable !== undefined) faultActions['full disk'] = () => fillDisk(join(fillable, 'ballast'), 1000);
  if (restartDatabase !== undefined) faultActions['database restart'] = restartDatabase;
  const kill = async (): Promise<void> => {
    await program.restart();
    await check();
  };

  const clientLoops = Array.from({ length: clients }, client);
  while (performance.now() < endMs && ledger.faults.length === 0) {
    await delay(500 + random.below(1500));
    const areKillsOver = performance.now() > noKillsFromMs;
    const names = [...Object.keys(faultActions), ...(areKillsOver ? [] : ['kill', 'kill'])];
    const name = random.pick(names);
    nemesis[name] = (nemesis[name] ?? 0) + 1;
    await (faultActions[name] ?? kill)();
    const { acknowledged, verified } = ledger.counts;
    process.stderr.write(`${name}: ${acknowledged} acknowledged, ${verified} verified\n`);
    if (areKillsOver) megabytes.push(program.memoryNow() / 1e6);
  }
  isOver = true;
  await Promise.all(clientLoops);
  control?.set({ at: 0 });
  await program.restart();
  await check();
  await program.stop();
  control?.close();
  const memoryMb = warmAndEnd(megabytes);
  const faults = [...ledger.faults];
  if (memoryMb !== undefined && memoryMb.end > memoryMb.warm * growthMax)
    faults.push(`memory grew from ${memoryMb.warm} to ${memoryMb.end} MB`);
  return { ...ledger.counts, refusals: ledger.refusals, nemesis, memoryMb, faults };
}

async function fillDisk(path: string, ms: number): Promise<void> {
  const file = openSync(path, 'w');
  try {
    for (const block = Buffer.alloc(1024 * 1024); ; ) writeSync(file, block);
  } catch {
    // The disk is full, as intended.
  } finally {
    closeSync(file);
  }
  await delay(ms);
  rmSync(path);
}

/** Returns the medians of the second and the last quarter, or undefined if there are too few samples. */
function warmAndEnd(megabytes: readonly number[]): SoakReport['memoryMb'] {
  const quarter = Math.floor(megabytes.length / 4);
  if (quarter < samplesMin / 4) return undefined;
  const [warm, end] = [megabytes.slice(quarter, 2 * quarter), megabytes.slice(-quarter)];
  return { warm: Math.round(median(warm)), end: Math.round(median(end)) };
}
