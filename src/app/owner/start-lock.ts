import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { systemCode } from '../../base/errors.ts';
import { isRunning } from '../../base/is-running.ts';

/** A start that takes longer has failed in some way that nobody noticed. */
const startMsMax = 60_000;

/**
 * Lets one of several relays start an owner. It saves work and nothing depends on it: two owners that start at the same time
 * find each other when they announce themselves.
 */
export function takeStartLock(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return isAbandoned(file) && replace(file);
    // A full disk can't be locked, and must not be waited for.
    rmSync(file, { force: true });
    return true;
  }
}

export function releaseStartLock(file: string): void {
  if (holder(file) === process.pid) rmSync(file, { force: true });
}

function isAbandoned(file: string): boolean {
  const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
  if (age > startMsMax) return true;
  const pid = holder(file);
  return pid !== undefined && !isRunning(pid);
}

/** Of several that take it over, the one that moves it aside has it. */
function replace(file: string): boolean {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    writeFileSync(aside, String(process.pid));
    linkSync(aside, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Undefined also for a moment after it was made. */
function holder(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}
