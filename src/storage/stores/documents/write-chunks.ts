import type { NewChunk } from '../../contracts/new-chunk.ts';
import type { NewPassage } from '../../contracts/passages.ts';
import type { Statements } from '../../dialect.ts';
import { storable } from '../../storable.ts';
import { replacePassages } from '../passages/write-passages.ts';
import { parentOf } from './selection.ts';

/** Rows that one statement carries. */
const rowsAtOnce = 100;

/** In the place of those it had. The caller has removed the metadata of those. */
export async function writeChunks(
  on: Statements,
  id: number,
  title: string,
  labels: readonly string[],
  fresh: readonly NewChunk[],
): Promise<void> {
  const passages = fresh.map(
    ({ text, headings, vectors }, position): NewPassage => ({
      // Ties of a ranking are broken by these, so they sort like the numbers they hold.
      id: `${String(id).padStart(12, '0')}:${String(position).padStart(6, '0')}`,
      position,
      title,
      headings,
      body: text,
      labels,
      vectors,
    }),
  );
  await replacePassages(on, [{ parent: parentOf(id), passages }]);
  const rows = fresh.flatMap(({ metadata }, position) =>
    Object.keys(metadata).length === 0 ? [] : [[id, position, storable(JSON.stringify(metadata))]],
  );
  for (let first = 0; first < rows.length; first += rowsAtOnce) {
    const some = rows.slice(first, first + rowsAtOnce);
    const places = some.map(() => '(?, ?, ?)').join(', ');
    await on.query(
      `INSERT INTO ${on.dialect.schema}kb_chunks (document, position, metadata) VALUES ${places}`,
      some.flat(),
    );
  }
}
