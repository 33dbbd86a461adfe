import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

export interface ThreadTime {
  /** That it has computed. */
  readonly cpuMs: number;
  /** That it was ready to compute, and the machine had no core for it. */
  readonly queuedMs: number;
}

/** The system's number of the thread that asks. Only Linux says it. */
export function systemThread(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/** Of a thread of this process; where that is not known, the CPU time of the whole process, which is not less. */
export function threadTime(thread: number | undefined): ThreadTime {
  try {
    const [cpuNs, queuedNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    return { cpuMs: (cpuNs ?? 0) / 1e6, queuedMs: (queuedNs ?? 0) / 1e6 };
  } catch {
    const { user, system } = process.cpuUsage();
    return { cpuMs: (user + system) / 1000, queuedMs: 0 };
  }
}
