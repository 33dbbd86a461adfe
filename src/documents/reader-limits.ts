/**
 * CPU time of this process, in milliseconds. Readers are limited by it, not by elapsed time: the same file must give the same
 * text on a busy machine.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * A reader that reaches a limit ends itself with a signal that tells its parent why. Nothing else sends these signals, and they
 * leave no core file; the system kills with SIGKILL. Windows lacks them.
 */
const windows = process.platform === 'win32';

/** CPU time exceeded. */
export const cpuSignal = windows ? 'SIGTERM' : 'SIGALRM';

/** Memory exceeded. */
export const memorySignal = windows ? 'SIGKILL' : 'SIGUSR2';
