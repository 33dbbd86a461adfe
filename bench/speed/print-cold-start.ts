/**
 * Answers 20 hybrid searches from the named file, and prints the process's memory in bytes and the milliseconds until the
 * vectors were in memory.
 */
import { openCarrel } from './carrel.ts';
import { timed } from './timings.ts';

const carrel = await openCarrel(process.argv[2] ?? '');
// Starts the reader thread.
await carrel.words(0, 10);
const first = await timed(() => carrel.meaning(0, 10));
const again = await timed(() => carrel.meaning(0, 10));
for (let number = 0; number < 20; number += 1) await carrel.hybrid(number, 10);
console.log(process.memoryUsage().rss, first - again);
await carrel.close();
