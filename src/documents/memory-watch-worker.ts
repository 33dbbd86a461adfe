/**
 * A thread inside the extraction process. It ends the process if its memory or CPU time exceeds the limit, or if the parent
 * process has ended. The extracting thread cannot watch itself during a long synchronous call. V8's own memory limit does not
 * count ArrayBuffers.
 */
import { workerData } from 'node:worker_threads';
import { cpuMs, cpuSignal, memorySignal } from './reader-limits.ts';

export interface WatchData {
  readonly memoryMb: number;
  readonly parentId: number;
  /** A single number, shared with the extracting thread: the CPU time, by `cpuMs()`, at which the current document must end. */
  readonly deadline: Float64Array;
}

const intervalMs = 20;
const { memoryMb, parentId, deadline }: WatchData = workerData;
const bytesMax = memoryMb * 1024 * 1024;

setInterval(() => {
  if (process.ppid !== parentId) process.kill(process.pid, 'SIGKILL');
  if (process.memoryUsage.rss() > bytesMax) process.kill(process.pid, memorySignal);
  if (cpuMs() > (deadline[0] ?? 0)) process.kill(process.pid, cpuSignal);
}, intervalMs);
