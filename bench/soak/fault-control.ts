import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

/** The file that controls faults.c, with the fields of its `struct control` in the same order. */
export interface FaultControl {
  /** Restarts counting from 0. Call number `at` then fails and, with `sticky`, all later calls too. `at: 0` lets all succeed. */
  set(fault: { at: number; error?: number; sticky?: boolean }): void;
  moveClock(seconds: number): void;
  state(): { calls: number; failed: number };
  close(): void;
}

const field = { calls: 0, failAt: 1, error: 2, sticky: 3, failed: 4, clockSeconds: 5 } as const;

export function createFaultControl(file: string): FaultControl {
  const descriptor = openSync(file, 'r+');
  const write = (index: number, value: number): void => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    writeSync(descriptor, bytes, 0, 8, index * 8);
  };
  const read = (index: number): number => {
    const bytes = Buffer.alloc(8);
    readSync(descriptor, bytes, 0, 8, index * 8);
    return Number(bytes.readBigInt64LE());
  };
  return {
    set({ at, error = constants.errno.EIO, sticky = false }) {
      write(field.failAt, 0);
      write(field.error, error);
      write(field.sticky, sticky ? 1 : 0);
      write(field.failed, 0);
      write(field.calls, 0);
      write(field.failAt, at);
    },
    moveClock: (seconds) => write(field.clockSeconds, seconds),
    state: () => ({ calls: read(field.calls), failed: read(field.failed) }),
    close: () => closeSync(descriptor),
  };
}

/** Compiles faults.c. Returns the environment that loads it into a program whose data is in the folder `data`. */
export function prepareFaults(folder: string, data: string): { env: Record<string, string>; controlFile: string } {
  const library = join(folder, 'faults.so');
  const controlFile = join(folder, 'faults');
  execFileSync('gcc', ['-shared', '-fPIC', '-O1', '-w', '-o', library, join(import.meta.dirname, 'faults.c'), '-ldl']);
  writeFileSync(controlFile, Buffer.alloc(Object.keys(field).length * 8));
  const env = { LD_PRELOAD: library, CARREL_FAULT_FOLDER: data, CARREL_FAULT_CONTROL: controlFile };
  return { env, controlFile };
}

/** Returns the reason why faults can't be injected on this machine, or undefined. */
export function faultObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'faults are injected on Linux only';
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'this machine has no gcc to compile the shim with';
  }
}
