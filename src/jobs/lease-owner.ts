import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRunning } from '../base/is-running.ts';

/**
 * Creates a name for this process: machine, process id, start time and a random id. With the first three, other processes
 * on this machine can tell whether it still runs.
 */
export function createLeaseOwner(): string {
  return [machine(), process.pid, startOf('self') ?? 'unknown', randomUUID()].join(' ');
}

/** True if the owner was a process on this machine and certainly no longer runs. */
export function hasExited(owner: string): boolean {
  const [ownerMachine, pid, start] = owner.split(' ');
  if (ownerMachine !== machine() || start === undefined || start === 'unknown') return false;
  const currentStart = startOf(String(pid));
  return currentStart === undefined ? !isRunning(Number(pid)) : currentStart !== start;
}

/** Identifies the machine, including its pid namespace and boot: process ids are comparable only within both. */
function machine(): string {
  const namespace = unlessMissing(() => readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''));
  const boot = unlessMissing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return [hostname(), namespace ?? '', boot ?? ''].join('/');
}

/** Returns a process's start, in clock ticks since boot (proc(5), field 22). Undefined without such a process or /proc. */
function startOf(pid: string): string | undefined {
  const status = unlessMissing(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The program's name is in parentheses and may contain anything.
  return status?.slice(status.lastIndexOf(')') + 2).split(' ')[19];
}

function unlessMissing(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
