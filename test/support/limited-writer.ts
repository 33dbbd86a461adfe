/**
 * Writes documents until a write fails, then prints the error code and a search result. After a line on stdin, writes again
 * and prints the result of an integrity check: `limited-writer.ts <file>`.
 */
import { once } from 'node:events';
import { isCarrelError } from '../../src/base/errors.ts';
import { createSqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { plainQuery } from '../../src/words/word-query.ts';
import { ingestText } from './passages.ts';

const storage = await createSqliteStorage({ path: process.argv[2] ?? '' });
const kb = storage.passages;
const write = () => ingestText(storage, `findable ${'x'.repeat(9000)}`);
const countMatches = async () => (await kb.search({ query: plainQuery('findable'), limit: 1, offset: 0 })).total;
const print = (values: unknown) => process.stdout.write(`${JSON.stringify(values)}\n`);

let written = 0;
for (let code: string | undefined; code === undefined && written < 2000; ) {
  await write().then(
    () => {
      written += 1;
    },
    (error) => {
      code = isCarrelError(error) ? error.code : String(error);
    },
  );
  if (code !== undefined) print({ code, written, found: await countMatches() });
}
await once(process.stdin, 'data');
await write();
print({ found: await countMatches(), problems: await storage.check() });
await storage.close();
process.exit();
