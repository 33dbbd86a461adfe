import { readdirSync, readFileSync } from 'node:fs';

export interface MemoryWatch {
  /** Returns the peak memory of the engine and of its largest reader process, in MB, sampled ten times a second. */
  peaks(): { engine: number; readers: number };
  stop(): void;
}

export function createMemoryWatch(pid: number): MemoryWatch {
  let readers = 0;
  const timer = setInterval(() => {
    for (const child of childrenOf(pid)) readers = Math.max(readers, peakOf(child));
  }, 100);
  return {
    peaks: () => ({ engine: peakOf(pid), readers }),
    stop: () => clearInterval(timer),
  };
}

export function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
