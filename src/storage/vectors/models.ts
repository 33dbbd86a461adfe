import type { Statements } from '../dialect.ts';
import { numberOf, type Row, textOf } from '../rows.ts';
import type { ModelState, VectorCorpus } from './vector.ts';

/** Max vectors deleted by one call of `dropVectors`, so that other writes need not wait long. */
const droppedMax = 2_000;

/** The table that contains the embedded texts, by corpus. */
export const ownersOf = { context: 'context_entries', kb: 'kb_passages' } as const;
/** SQL condition for the searchable rows `o` of that table. */
export const isLive = { context: 'o.deleted_at IS NULL', kb: 'TRUE' } as const;

export interface ModelRequest {
  readonly corpus: VectorCorpus;
  readonly model: string;
}

/** Makes this the current model. If the model is new, queues every text for embedding with it. */
export async function chooseModel(db: Statements, { corpus, model }: ModelRequest): Promise<void> {
  if ((await findModel(db, { corpus, model })) === undefined) await addModel(db, { corpus, model });
  await db.query(
    'UPDATE vector_models SET chosen = (SELECT max(chosen) + 1 FROM vector_models) WHERE corpus = ? AND name = ?',
    [corpus, model],
  );
}

/** Lists the models in use, the current one last. Too slow for every search, because it counts their vectors. */
export async function listModels(db: Statements, { corpus }: { readonly corpus: VectorCorpus }): Promise<ModelState[]> {
  const { vectors } = db.dialect;
  const rows = await db.query(
    `SELECT key, name, dimensions, (SELECT count(*) FROM ${corpus}_vectors WHERE model = m.key) AS vectors,
       (SELECT count(*) FROM ${corpus}_unembedded WHERE model = m.key) AS pending
     FROM vector_models m WHERE corpus = ? AND name IS NOT NULL ORDER BY chosen`,
    [corpus],
  );
  const models: ModelState[] = [];
  for (const row of rows) {
    models.push({
      model: textOf(row, 'name'),
      dimensions: dimensionsOf(row),
      vectors: numberOf(row, 'vectors'),
      pending: numberOf(row, 'pending'),
      index: await vectors.indexState(db, corpus, numberOf(row, 'key')),
    });
  }
  return models;
}

/** Removes a model's index and its name, so that the name can be reused. `dropVectors` deletes its vectors. */
export async function forgetModel(
  db: Statements,
  { corpus, model }: { corpus: VectorCorpus; model: string | undefined },
): Promise<void> {
  const { vectors } = db.dialect;
  const corpusAndName = [corpus, model ?? null];
  await db.query(
    `DELETE FROM ${corpus}_unembedded WHERE model = (SELECT key FROM vector_models WHERE corpus = ? AND name = ?)`,
    corpusAndName,
  );
  await db.query('UPDATE vector_models SET name = NULL WHERE corpus = ? AND name = ?', corpusAndName);
  const rows = await db.query('SELECT key FROM vector_models WHERE corpus = ? AND name IS NULL', [corpus]);
  for (const row of rows) await vectors.dropIndex(db, corpus, numberOf(row, 'key'));
}

/** Deletes a batch of vectors of forgotten models or, if there are none, the models. Returns false when all are deleted. */
export async function dropVectors(db: Statements, { corpus }: { readonly corpus: VectorCorpus }): Promise<boolean> {
  const vectors = `${corpus}_vectors`;
  const deleted = await db.query(
    `DELETE FROM ${vectors} WHERE key IN (SELECT v.key FROM vector_models m JOIN ${vectors} v ON v.model = m.key
       WHERE m.name IS NULL LIMIT ${droppedMax}) RETURNING key`,
  );
  if (deleted.length > 0) return true;
  // Keeps models that still have vectors: another process may be deleting those.
  await db.query(
    `DELETE FROM vector_models WHERE corpus = ? AND name IS NULL
       AND NOT EXISTS (SELECT 1 FROM ${vectors} v WHERE v.model = vector_models.key)`,
    [corpus],
  );
  return false;
}

/** Returns undefined if the model is not in use. With `lock`, the model can't be dropped until the transaction ends. */
export async function findModel(db: Statements, { corpus, model }: ModelRequest, lock = false) {
  const { vectors } = db.dialect;
  const [row] = await db.query(
    `SELECT key, dimensions FROM vector_models WHERE corpus = ? AND name = ? ${lock ? vectors.modelLock : ''}`,
    [corpus, model],
  );
  return row === undefined ? undefined : { key: numberOf(row, 'key'), dimensions: dimensionsOf(row) };
}

async function addModel(db: Statements, { corpus, model }: ModelRequest): Promise<void> {
  const { vectors } = db.dialect;
  await vectors.beforeAddingModel(db, corpus);
  const [added] = await db.query(
    `INSERT INTO vector_models (corpus, name, chosen) VALUES (?, ?, (SELECT coalesce(max(chosen), 0) + 1 FROM vector_models))
     ON CONFLICT DO NOTHING RETURNING key`,
    [corpus, model],
  );
  if (added === undefined) return;
  await db.query(
    `INSERT INTO ${corpus}_unembedded (model, owner)
     SELECT m.key, o.key FROM vector_models m CROSS JOIN ${ownersOf[corpus]} o
     WHERE m.key = ? AND ${isLive[corpus]}`,
    [numberOf(added, 'key')],
  );
}

function dimensionsOf(row: Row): number | undefined {
  return row['dimensions'] === null ? undefined : numberOf(row, 'dimensions');
}
