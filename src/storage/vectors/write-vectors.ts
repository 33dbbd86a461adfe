import { CarrelError } from '../../base/errors.ts';
import type { Statements } from '../dialect.ts';
import { batchesOf, numberOf } from '../rows.ts';
import { findModel, type ModelRequest } from './models.ts';
import { currentHashes } from './texts-to-embed.ts';
import type { PutVectors } from './vector.ts';

/** Max number of recorded removals. An in-memory index that has missed more is reloaded, which is then just as fast. */
const removalsKept = 100_000;

/**
 * Stores the vectors of texts and removes the texts from the waiting list. Skips texts that were changed or deleted meanwhile.
 * Returns the number of texts stored.
 */
export async function putVectors(on: Statements, { corpus, model, texts }: PutVectors & ModelRequest): Promise<number> {
  const { integers, vectors, rowsAtOnce } = on.dialect;
  const stored = await findModel(on, { corpus, model }, true);
  if (stored === undefined) return 0;
  const hashes = await currentHashes(
    on,
    corpus,
    texts.map(({ owner }) => owner),
  );
  const unchanged = texts.filter(({ owner, textHash }) => hashes.get(owner) === textHash);
  await vectors.beforeAddingVectors(on, corpus);
  const owned = [stored.key, { list: unchanged.map(({ owner }) => owner) }];
  for (const table of ['vectors', 'unembedded']) {
    await on.query(`DELETE FROM ${corpus}_${table} WHERE model = ? AND owner IN (${integers})`, owned);
  }
  const windows = unchanged.flatMap(({ owner, windows }) => windows.map((window) => ({ owner, ...window })));
  const dimensions = stored.dimensions ?? (await firstDimensions(stored.key));
  for (const some of batchesOf(windows, rowsAtOnce)) {
    const placeholders = some.map(() => '(?, ?, ?, ?, ?)').join(', ');
    await on.query(
      `INSERT INTO ${corpus}_vectors (model, owner, start_at, end_at, vector) VALUES ${placeholders}`,
      some.flatMap(({ owner, start, end, vector }) => {
        if (vector.length !== dimensions) throw dimensionsError(model, dimensions ?? 0, vector.length);
        return [stored.key, owner, start, end, vectors.encode(vector)];
      }),
    );
  }
  const removals = `${corpus}_vector_removals`;
  await on.query(`DELETE FROM ${removals} WHERE number <= (SELECT max(number) FROM ${removals}) - ?`, [removalsKept]);
  // Start early: building the index of a few vectors takes no time.
  vectors.ensureIndex(corpus, { key: stored.key, dimensions });
  return unchanged.length;

  /** Sets the model's dimensions. If several processes write its first vectors, the first of them decides. */
  async function firstDimensions(key: number): Promise<number | undefined> {
    const [first] = windows;
    if (first === undefined) return undefined;
    const [row = {}] = await on.query(
      'UPDATE vector_models SET dimensions = coalesce(dimensions, ?) WHERE key = ? RETURNING dimensions',
      [first.vector.length, key],
    );
    return numberOf(row, 'dimensions');
  }
}

/** Creates the error for vectors of another length than the stored ones: a server may change its model but keep the name. */
function dimensionsError(model: string, stored: number, received: number): CarrelError {
  const message =
    `The embedding model ${model} returns vectors of ${received} dimensions, but the stored ones have ${stored}. ` +
    'Check which model the server runs, or set EMBEDDING_MODEL to another name.';
  return new CarrelError('unavailable', message, { data: { stored, given: received } });
}
