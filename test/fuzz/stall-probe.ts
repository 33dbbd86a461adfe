/**
 * Loaded into the program with `--import`: notes how long the serving thread was kept from its loop by its own work. Time
 * that the machine gave to others does not count. Appends a line `<when> <ms>` to the file that CARREL_STALL_FILE names.
 */
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const file = process.env['CARREL_STALL_FILE'];
const notedMs = 25;
const everyMs = 10;

if (file !== undefined && isMainThread && process.argv[1]?.endsWith('carrel.js')) {
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    const ms = (user + system) / 1000;
    // One turn of the timer and one of the loop lie between: both may hold many short tasks.
    if (ms > notedMs) appendFileSync(file, `${Date.now()} ${Math.round(ms)}\n`);
  }, everyMs);
  timer.unref();
}
