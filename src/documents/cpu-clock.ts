/**
 * CPU time that this process has used, in milliseconds. Readers are bounded by it and not by the time of day, which goes on
 * while a busy machine works for others: the same file must give the same text there.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Ends a reader whose CPU time is spent, and tells its parent why: nothing else sends it, and it leaves no core file. Windows
 * has no such signal.
 */
export const cpuSignal = process.platform === 'win32' ? 'SIGTERM' : 'SIGALRM';
