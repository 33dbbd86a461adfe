/**
 * Answers 20 hybrid searches from the named file, and prints the process's memory in bytes and the milliseconds until the
 * vectors were in memory.
 */
import { createProduct } from './product.ts';
import { timed } from './timings.ts';

const product = await createProduct(process.argv[2] ?? '');
// Starts the reader thread.
await product.words(0, 10);
const first = await timed(() => product.meaning(0, 10));
const again = await timed(() => product.meaning(0, 10));
for (let number = 0; number < 20; number += 1) await product.hybrid(number, 10);
console.log(process.memoryUsage().rss, first - again);
await product.close();
