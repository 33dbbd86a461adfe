import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRunning } from '../base/is-running.ts';

/** Machine, process id, process start and a random id. The first three let others on this machine see that it has died. */
export function createLeaseOwner(): string {
  return [machine(), process.pid, startOf('self') ?? 'unknown', randomUUID()].join(' ');
}

/** True only if certain: the owner was on this machine and its process no longer exists. */
export function isGone(owner: string): boolean {
  const [where, pid, start] = owner.split(' ');
  if (where !== machine() || start === undefined || start === 'unknown') return false;
  const now = startOf(String(pid));
  return now === undefined ? !isRunning(Number(pid)) : now !== start;
}

/** Containers may share a host name; process ids are comparable only within one namespace and boot. */
function machine(): string {
  const namespace = unlessMissing(() => readlinkSync('/proc/self/ns/pid').replace(/\D/g, ''));
  const boot = unlessMissing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  return [hostname(), namespace ?? '', boot ?? ''].join('/');
}

/** In clock ticks since boot (proc(5), field 22); undefined if there is no such process or no /proc. */
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
