/** Reads CPU time and memory of processes from /proc, so it works only on Linux. */
import { readdirSync, readFileSync } from 'node:fs';

/** Returns the CPU time of a process. Unlike wall time, it hardly changes on a busy machine. */
export function cpuMicroseconds(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    // The first field is the time on a CPU. `/proc/<pid>/stat` has a resolution of 10 ms, too coarse for one round.
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
  }
  return nanoseconds / 1000;
}

/**
 * Returns the CPU time of these processes and their descendants, including descendants that have ended. The resolution is
 * 10 ms, so measure many calls together.
 */
export function treeCpuMs(roots: readonly number[]): number {
  const processes = new Map(readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? statOf(Number(name)) : [])));
  const children = Map.groupBy(processes.keys(), (pid) => processes.get(pid)?.parent);
  let total = 0;
  for (const queue = [...roots]; ; ) {
    const pid = queue.pop();
    if (pid === undefined) return total;
    total += processes.get(pid)?.cpuMs ?? 0;
    queue.push(...(children.get(pid) ?? []));
  }
}

export function parentOf(pid: number): number | undefined {
  return statOf(pid)[0]?.[1].parent;
}

const msPerTick = 10;

/** Returns the process with its parent and CPU time, or an empty list if it has ended. */
function statOf(pid: number): [number, { parent: number; cpuMs: number }][] {
  try {
    // Skips the name, which may contain anything. After it, field 2 is the parent. Fields 12 to 15 are the user and system times
    // of the process and of its ended children.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ').map(Number) ?? [];
    const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
    return [[pid, { parent: fields[1] ?? 0, cpuMs: msPerTick * ticks }]];
  } catch {
    return [];
  }
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

export function residentMegabytes(pid: number): number {
  return statusMegabytes(pid, 'VmRSS');
}

/** Returns the peak memory of a process, or 0 if it has ended. */
export function peakMegabytes(pid: number): number {
  try {
    return statusMegabytes(pid, 'VmHWM');
  } catch {
    return 0;
  }
}

function statusMegabytes(pid: number, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1] ?? 0) / 1024;
}
