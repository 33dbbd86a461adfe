/**
 * Loaded into the program with `--import`: records how long the serving thread's own work blocked its event loop. Time spent
 * on other processes does not count. Appends a line `<when> <ms>` to the file in CARREL_STALL_FILE.
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
    // Between two ticks lie one timer phase and one turn of the loop: both may hold many short tasks.
    if (ms > notedMs) appendFileSync(file, `${Date.now()} ${Math.round(ms)}\n`);
  }, everyMs);
  timer.unref();
}
