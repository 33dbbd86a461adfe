/**
 * How a reader that is spent ends itself, so that its parent knows why: nothing else sends these, and they leave no core file.
 * A reader that the system kills for its own reasons gets SIGKILL. Windows has none of this.
 */
const windows = process.platform === 'win32';

/** Its CPU time is used up. */
export const cpuSignal = windows ? 'SIGTERM' : 'SIGALRM';

/** Its memory is used up. */
export const memorySignal = windows ? 'SIGKILL' : 'SIGUSR2';
