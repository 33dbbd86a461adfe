import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { isRunning } from '../base/is-running.ts';

/**
 * Who holds a lease: machine, process id, start of the process, and an id for each holder. From the first
 * three, another process on the same machine can tell at once that the holder is dead, instead of waiting for its lease
 * to run out.
 */
export function createLeaseOwner(): string {
  return [machine(), process.pid, startOf('self') ?? 'unknown', randomUUID()].join(' ');
}

/** True only if it is certain: the holder was on this machine, and its process no longer exists. */
export function isGone(owner: string): boolean {
  const [where, pid, start] = owner.split(' ');
  if (where !== machine() || start === undefined || start === 'unknown') return false;
  const now = startOf(String(pid));
  return now === undefined ? !isRunning(Number(pid)) : now !== start;
}

/** Containers may share a host name; process ids mean the same only within one namespace and one boot. */
function machine(): string {
  return [hostname(), namespaceOf(), bootId()].join('/');
}

function namespaceOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '';
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** In clock ticks since boot (proc(5), field 22); undefined if there is no such process or no /proc. */
function startOf(pid: string): string | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in brackets and may hold anything.
    return status.slice(status.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
