/**
 * A thread inside the extraction process that ends the process when its resident memory or CPU time exceeds the limit, or its
 * parent is gone. The extracting thread may be in one long synchronous call and cannot watch itself; V8's own limit does not
 * count ArrayBuffers.
 */
import { workerData } from 'node:worker_threads';
import { cpuMs, cpuSignal, memorySignal } from './reader-limits.ts';

export interface WatchData {
  readonly memoryMb: number;
  readonly parentId: number;
  /** One number: the deadline of the current document, on the clock of `cpuMs`. */
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
