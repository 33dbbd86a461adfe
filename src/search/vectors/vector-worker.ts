/** Scans the segments that it was given, for the blocks that no other thread has taken. */
import { parentPort, workerData } from 'node:worker_threads';
import { createKernel } from './scan-kernel.ts';
import type { ScanReply, ScanWork, ScanWorkerData } from './scan-pool.ts';
import { createScanner } from './scanner.ts';

const { layout, scanner: place }: ScanWorkerData = workerData;
const scanner = createScanner(layout);

parentPort?.on('message', (work: ScanWork) => {
  if (work.kind === 'segment') {
    scanner.add(work.memory, createKernel(work.memory, layout, place));
    return;
  }
  const part = scanner.scan(work.task, () => Atomics.add(work.next, 0, 1));
  if (part.blocks > 0) parentPort?.postMessage({ id: work.id, ...part } satisfies ScanReply);
});
