import {
  dimensionsError,
  type PutVectors,
  removalsKept,
  type TextVectors,
  type VectorCorpus,
} from '../../contracts/vectors.ts';
import type { Statements } from '../../dialect.ts';
import type { BoundValue } from '../../rows.ts';
import { findModel, type ModelRequest, modelKey } from './models.ts';
import { currentHashes } from './texts-to-embed.ts';

/** A text that is in the database, and its vectors. */
export interface OwnedVectors extends TextVectors {
  readonly owner: number;
}

/** Left out for texts that have changed or gone since. The number of texts taken. */
export async function putVectors(on: Statements, { corpus, model, texts }: PutVectors & ModelRequest): Promise<number> {
  if ((await findModel(on, { corpus, model }, true)) === undefined) return 0;
  const hashes = await currentHashes(
    on,
    corpus,
    texts.map(({ owner }) => owner),
  );
  const taken = texts.filter(({ owner, textHash }) => hashes.get(owner) === textHash);
  const owned = taken.map(({ owner, windows }) => ({ owner, model, windows }));
  await writeVectors(on, corpus, owned);
  const removals = `${on.dialect.schema}${corpus}_vector_removals`;
  await on.query(`DELETE FROM ${removals} WHERE number <= (SELECT max(number) FROM ${removals}) - ?`, [removalsKept]);
  // While a model has few vectors, its index is made at once.
  const own = await findModel(on, { corpus, model });
  if (own !== undefined) on.dialect.vectors.ensureIndex(corpus, own);
  return taken.length;
}

/**
 * Stores the vectors of texts in place of those they had of the same model, and takes them from the list of what waits. A
 * model that was not chosen is chosen by it.
 */
export async function writeVectors(
  on: Statements,
  corpus: VectorCorpus,
  texts: readonly OwnedVectors[],
): Promise<void> {
  const { schema, integers, vectors } = on.dialect;
  await vectors.beforeVectors(on, corpus);
  for (const model of new Set(texts.map((text) => text.model))) {
    const own = texts.filter((text) => text.model === model);
    const dimensions = own.find(({ windows }) => windows.length > 0)?.windows[0]?.vector.length;
    const key = await modelKey(on, corpus, model, dimensions);
    const owners = own.map(({ owner }) => owner);
    for (const table of ['vectors', 'unembedded']) {
      await on.query(`DELETE FROM ${schema}${corpus}_${table} WHERE model = ? AND owner IN (${integers})`, [
        key,
        { list: owners },
      ]);
    }
    const rows = own.flatMap(({ owner, windows }) =>
      windows.map(({ start, end, vector }) => {
        if (vector.length !== dimensions) throw dimensionsError(model, dimensions ?? 0, vector.length);
        return [key, owner, start, end, vectors.encode(vector)];
      }),
    );
    await insertRows(on, corpus, rows);
  }
}

async function insertRows(on: Statements, corpus: VectorCorpus, rows: readonly BoundValue[][]): Promise<void> {
  const { schema, rowsAtOnce } = on.dialect;
  for (let first = 0; first < rows.length; first += rowsAtOnce) {
    const some = rows.slice(first, first + rowsAtOnce);
    const places = some.map(() => '(?, ?, ?, ?, ?)').join(', ');
    await on.query(
      `INSERT INTO ${schema}${corpus}_vectors (model, owner, start_at, end_at, vector) VALUES ${places}`,
      some.flat(),
    );
  }
}
