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
 * they leave no core file. SIGKILL is not used, because the system sends it too. Windows lacks these signals and uses others.
 */
const windows = process.platform === 'win32';

/** The reader exceeded its CPU time. */
export const cpuSignal = windows ? 'SIGTERM' : 'SIGALRM';

/** The reader exceeded its memory. */
export const memorySignal = windows ? 'SIGKILL' : 'SIGUSR2';
