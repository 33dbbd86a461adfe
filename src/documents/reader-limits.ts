/**
 * CPU time that this process has used, in milliseconds. Readers are limited by it and not by elapsed time, which also passes
 * while a busy machine does other work: the same file must give the same text there.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * How a reader that has reached its limit ends itself, so that its parent knows why: nothing else sends these, and they
 * leave no core file. A reader that the system kills for its own reasons gets SIGKILL. Windows has none of this.
 */
const windows = process.platform === 'win32';

/** CPU time exceeded. */
export const cpuSignal = windows ? 'SIGTERM' : 'SIGALRM';

/** Memory exceeded. */
export const memorySignal = windows ? 'SIGKILL' : 'SIGUSR2';
