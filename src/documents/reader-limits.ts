/**
 * Returns the CPU time of this process, in milliseconds. Readers are limited by CPU time, not by elapsed time, because the same
 * file must give the same text on a busy machine.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * A reader that reaches a limit ends itself with a signal that tells its parent why. Nothing else sends SIGALRM or SIGUSR2, and
 * they leave no core file. SIGKILL would be ambiguous, because the system sends it too. Windows lacks SIGALRM and SIGUSR2.
 */
const isWindows = process.platform === 'win32';

/** The reader exceeded its CPU time. */
export const cpuSignal = isWindows ? 'SIGTERM' : 'SIGALRM';

/** The reader exceeded its memory. */
export const memorySignal = isWindows ? 'SIGKILL' : 'SIGUSR2';
