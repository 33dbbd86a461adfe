/**
 * CPU time of this process, in milliseconds. Readers are limited by it, not by elapsed time: the same file must give the same
 * text on a busy machine.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * How a reader that reached its limit ends itself, so that its parent knows why: nothing else sends these signals, and they
 * leave no core file. The system kills with SIGKILL. Windows has none of this.
 */
const windows = process.platform === 'win32';

/** CPU time exceeded. */
export const cpuSignal = windows ? 'SIGTERM' : 'SIGALRM';

/** Memory exceeded. */
export const memorySignal = windows ? 'SIGKILL' : 'SIGUSR2';
