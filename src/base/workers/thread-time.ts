import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

export interface ThreadTime {
  /** CPU time. */
  readonly cpuMs: number;
  /** Time in which the thread could run but waited for a core. */
  readonly queuedMs: number;
}

/** Returns the system's id of the current thread; undefined except on Linux. */
export function systemThread(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/** Returns the time of one thread, or the CPU time of the whole process if the thread is unknown. */
export function threadTime(thread: number | undefined): ThreadTime {
  try {
    const [cpuNs, queuedNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    return { cpuMs: (cpuNs ?? 0) / 1e6, queuedMs: (queuedNs ?? 0) / 1e6 };
  } catch {
    const { user, system } = process.cpuUsage();
    return { cpuMs: (user + system) / 1000, queuedMs: 0 };
  }
}
