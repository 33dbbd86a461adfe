import { dimensionsError, droppedAtOnce, type ModelState, type VectorCorpus } from '../../contracts/vectors.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf, type Row, textOf } from '../../rows.ts';

/** The tables whose texts are embedded, called `o`, and which of their rows are searched. */
export const ownersOf = { context: 'context_entries', kb: 'kb_passages' } as const;
export const isLive = { context: 'o.deleted_at IS NULL', kb: 'TRUE' } as const;

export interface ModelRequest {
  readonly corpus: VectorCorpus;
  readonly model: string;
}

export async function chooseModel(on: Statements, { corpus, model }: ModelRequest): Promise<void> {
  await modelKey(on, corpus, model, undefined);
  const models = `${on.dialect.schema}${corpus}_models`;
  await on.query(`UPDATE ${models} SET chosen = (SELECT max(chosen) + 1 FROM ${models}) WHERE name = ?`, [model]);
}

export async function listModels(on: Statements, corpus: VectorCorpus): Promise<ModelState[]> {
  const { schema, vectors } = on.dialect;
  const rows = await on.query(
    `SELECT key, name, dimensions, (SELECT count(*) FROM ${schema}${corpus}_vectors WHERE model = m.key) AS vectors,
       (SELECT count(*) FROM ${schema}${corpus}_unembedded WHERE model = m.key) AS pending
     FROM ${schema}${corpus}_models m WHERE name IS NOT NULL ORDER BY chosen`,
  );
  const models: ModelState[] = [];
  for (const row of rows) {
    models.push({
      model: textOf(row, 'name'),
      dimensions: dimensionsOf(row),
      vectors: numberOf(row, 'vectors'),
      pending: numberOf(row, 'pending'),
      index: await vectors.indexState(on, corpus, numberOf(row, 'key')),
    });
  }
  return models;
}

/**
 * Takes the name from a model, so that it is out of the way at once, for a model of the same name too. Gives the keys of all
 * that are being dropped, this one and those that somebody did not finish.
 */
export async function forgetModel(
  on: Statements,
  { corpus, model }: { corpus: VectorCorpus; model: string | undefined },
): Promise<number[]> {
  const { schema } = on.dialect;
  const models = `${schema}${corpus}_models`;
  const name = [model ?? null];
  await on.query(
    `DELETE FROM ${schema}${corpus}_unembedded WHERE model = (SELECT key FROM ${models} WHERE name = ?)`,
    name,
  );
  await on.query(`UPDATE ${models} SET name = NULL WHERE name = ?`, name);
  const rows = await on.query(`SELECT key FROM ${models} WHERE name IS NULL`);
  return rows.map((row) => numberOf(row, 'key'));
}

/** A part of the vectors of forgotten models, and at the end the models. Whether more is left. */
export async function dropVectors(on: Statements, corpus: VectorCorpus): Promise<boolean> {
  const [models, vectors] = [`${on.dialect.schema}${corpus}_models`, `${on.dialect.schema}${corpus}_vectors`];
  const deleted = await on.query(
    `DELETE FROM ${vectors} WHERE key IN (SELECT v.key FROM ${models} m JOIN ${vectors} v ON v.model = m.key
       WHERE m.name IS NULL LIMIT ${droppedAtOnce}) RETURNING key`,
  );
  if (deleted.length > 0) return true;
  // Others may have forgotten one just now, whose vectors they are deleting.
  await on.query(
    `DELETE FROM ${models} WHERE name IS NULL AND NOT EXISTS (SELECT 1 FROM ${vectors} v WHERE v.model = ${models}.key)`,
  );
  return false;
}

/** Undefined for one that was not chosen, or was dropped. `keep`: it must not be dropped until the end. */
export async function findModel(on: Statements, { corpus, model }: ModelRequest, keep = false) {
  const { schema, vectors } = on.dialect;
  const [row] = await on.query(
    `SELECT key, dimensions FROM ${schema}${corpus}_models WHERE name = ? ${keep ? vectors.keepModel : ''}`,
    [model],
  );
  return row === undefined ? undefined : { key: numberOf(row, 'key'), dimensions: dimensionsOf(row) };
}

/** Chooses the model if nobody has, and tells it how long its vectors are. */
export async function modelKey(
  on: Statements,
  corpus: VectorCorpus,
  model: string,
  dimensions: number | undefined,
): Promise<number> {
  const { key, dimensions: stored } =
    (await findModel(on, { corpus, model })) ?? (await addModel(on, { corpus, model }));
  if (dimensions === undefined || stored === dimensions) return key;
  if (stored !== undefined) throw dimensionsError(model, stored, dimensions);
  await on.query(`UPDATE ${on.dialect.schema}${corpus}_models SET dimensions = ? WHERE key = ?`, [dimensions, key]);
  return key;
}

async function addModel(on: Statements, { corpus, model }: ModelRequest) {
  const { schema, vectors } = on.dialect;
  const models = `${schema}${corpus}_models`;
  await vectors.beforeModel(on, corpus);
  const [fresh] = await on.query(
    `INSERT INTO ${models} (name, chosen) VALUES (?, (SELECT coalesce(max(chosen), 0) + 1 FROM ${models}))
     ON CONFLICT DO NOTHING RETURNING key`,
    [model],
  );
  const known = await findModel(on, { corpus, model });
  if (known === undefined) throw new TypeError('the model was not added');
  if (fresh !== undefined) {
    await on.query(
      `INSERT INTO ${schema}${corpus}_unembedded (model, owner)
       SELECT m.key, o.key FROM ${models} m CROSS JOIN ${schema}${ownersOf[corpus]} o
       WHERE m.key = ? AND ${isLive[corpus]}`,
      [known.key],
    );
  }
  return known;
}

function dimensionsOf(row: Row): number | undefined {
  return row['dimensions'] === null ? undefined : numberOf(row, 'dimensions');
}
