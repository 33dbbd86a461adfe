/**
 * A thread inside the extracting process that ends the whole process when its resident memory exceeds the bound, or
 * when its parent is gone. The thread that extracts may be in one long synchronous call, so it cannot watch itself;
 * V8's own limit does not count ArrayBuffers.
 */
import { workerData } from 'node:worker_threads';

const intervalMs = 20;
const { memoryMb, parentId }: { memoryMb: number; parentId: number } = workerData;
const bytesMax = memoryMb * 1024 * 1024;

setInterval(() => {
  if (process.memoryUsage.rss() > bytesMax || process.ppid !== parentId) process.kill(process.pid, 'SIGKILL');
}, intervalMs);
