import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** The system's number of the thread that asks. Only Linux says it. */
export function systemThread(): number | undefined {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/** CPU time that a thread of this process has used; where that is not known, all of the process, which is not less. */
export function threadCpuMs(thread: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
