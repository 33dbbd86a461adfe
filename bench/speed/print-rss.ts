/** Answers 20 hybrid searches from the file that is named, and prints the bytes of memory that the process then has. */
import { createProduct } from './product.ts';

const product = await createProduct(process.argv[2] ?? '');
for (let number = 0; number < 20; number += 1) await product.hybrid(number, 10);
console.log(process.memoryUsage().rss);
await product.close();
