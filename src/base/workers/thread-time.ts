import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

export interface ThreadTime {
  /** CPU time. */
  readonly cpuMs: number;
  /** Runnable, but waiting for a core. */
  readonly queuedMs: number;
}

/** The system's id of the calling thread, on Linux. */
export function systemThread(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/** Time of one thread; if unknown, the CPU time of the whole process, which is never less. */
export function threadTime(thread: number | undefined): ThreadTime {
  try {
    const [cpuNs, queuedNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    return { cpuMs: (cpuNs ?? 0) / 1e6, queuedMs: (queuedNs ?? 0) / 1e6 };
  } catch {
    const { user, system } = process.cpuUsage();
    return { cpuMs: (user + system) / 1000, queuedMs: 0 };
  }
}
