import type { Statements } from '../dialect.ts';
import { batchesOf, numberOf } from '../rows.ts';
import { findModel, type ModelRequest } from './models.ts';
import { currentHashes } from './texts-to-embed.ts';
import { dimensionsError, type PutVectors, removalsKept } from './vector.ts';

/**
 * Stores the vectors of texts and removes the texts from the waiting list. Skips texts that were changed or deleted meanwhile.
 * Returns the number of texts stored.
 */
export async function putVectors(on: Statements, { corpus, model, texts }: PutVectors & ModelRequest): Promise<number> {
  const { integers, vectors, rowsAtOnce } = on.dialect;
  const known = await findModel(on, { corpus, model }, true);
  if (known === undefined) return 0;
  const hashes = await currentHashes(
    on,
    corpus,
    texts.map(({ owner }) => owner),
  );
  const taken = texts.filter(({ owner, textHash }) => hashes.get(owner) === textHash);
  await vectors.beforeVectors(on, corpus);
  const own = [known.key, { list: taken.map(({ owner }) => owner) }];
  for (const table of ['vectors', 'unembedded']) {
    await on.query(`DELETE FROM ${corpus}_${table} WHERE model = ? AND owner IN (${integers})`, own);
  }
  const windows = taken.flatMap(({ owner, windows }) => windows.map((window) => ({ owner, ...window })));
  const dimensions = known.dimensions ?? (await firstDimensions());
  for (const some of batchesOf(windows, rowsAtOnce)) {
    const placeholders = some.map(() => '(?, ?, ?, ?, ?)').join(', ');
    await on.query(
      `INSERT INTO ${corpus}_vectors (model, owner, start_at, end_at, vector) VALUES ${placeholders}`,
      some.flatMap(({ owner, start, end, vector }) => {
        if (vector.length !== dimensions) throw dimensionsError(model, dimensions ?? 0, vector.length);
        return [known.key, owner, start, end, vectors.encode(vector)];
      }),
    );
  }
  const removals = `${corpus}_vector_removals`;
  await on.query(`DELETE FROM ${removals} WHERE number <= (SELECT max(number) FROM ${removals}) - ?`, [removalsKept]);
  // Start early: while a model has few vectors, building its index takes no time.
  vectors.ensureIndex(corpus, { key: known.key, dimensions });
  return taken.length;

  /** Sets the model's dimensions. If several processes write its first vectors, the first of them decides. */
  async function firstDimensions(): Promise<number | undefined> {
    const [first] = windows;
    if (first === undefined) return undefined;
    const [row = {}] = await on.query(
      'UPDATE vector_models SET dimensions = coalesce(dimensions, ?) WHERE key = ? RETURNING dimensions',
      [first.vector.length, known?.key ?? 0],
    );
    return numberOf(row, 'dimensions');
  }
}
