import { dimensionsError, type TextVectors, type VectorCorpus } from '../contracts/vectors.ts';
import { numberOf, type Statements } from './connections.ts';
import { realArray } from './real-array.ts';

/** A text that is in the database, and its vectors. */
export interface OwnedVectors extends TextVectors {
  readonly owner: number;
}

/** Rows that one statement carries. */
const batchMax = 100;

export const owners = { context: 'carrel.context_entries', kb: 'carrel.kb_passages' } as const;
export const isLive = { context: 'o.deleted_at IS NULL', kb: 'TRUE' } as const;

/**
 * Stores the vectors of texts in place of those they had of the same model, and takes them from the list of what waits.
 * Part of the transaction that runs. A model that was not chosen is chosen by it.
 */
export async function writeVectors(
  statements: Statements,
  corpus: VectorCorpus,
  texts: readonly OwnedVectors[],
): Promise<void> {
  await keepOrder(statements, corpus);
  for (const model of new Set(texts.map((text) => text.model))) {
    const own = texts.filter((text) => text.model === model);
    const dimensions = own.find(({ windows }) => windows.length > 0)?.windows[0]?.vector.length;
    const key = await modelKey(statements, corpus, model, dimensions);
    const list = own.map(({ owner }) => owner);
    for (const name of ['vectors', 'unembedded']) {
      await statements.query(`DELETE FROM carrel.${corpus}_${name} WHERE model = $1 AND owner = ANY ($2::bigint[])`, [
        key,
        list,
      ]);
    }
    const rows = own.flatMap(({ owner, windows }) =>
      windows.map(({ start, end, vector }) => {
        if (vector.length !== dimensions) throw dimensionsError(model, dimensions ?? 0, vector.length);
        return [key, owner, start, end, realArray(vector)];
      }),
    );
    for (let first = 0; first < rows.length; first += batchMax) {
      await insertRows(statements, corpus, rows.slice(first, first + batchMax));
    }
  }
}

/** Where images in memory follow the keys, a key must not appear behind a later one. An index has no such need. */
async function keepOrder(statements: Statements, corpus: VectorCorpus): Promise<void> {
  await statements.query(
    `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))
     WHERE NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector')`,
    [`carrel.${corpus}_vectors`],
  );
}

async function insertRows(statements: Statements, corpus: VectorCorpus, rows: readonly unknown[][]): Promise<void> {
  const row = (_: unknown, place: number) => {
    const [a, b, c, d, e] = [1, 2, 3, 4, 5].map((column) => place * 5 + column);
    return `($${a}::integer, $${b}::bigint, $${c}::integer, $${d}::integer, $${e}::real[])`;
  };
  await statements.query(
    `INSERT INTO carrel.${corpus}_vectors (model, owner, start_at, end_at, vector) VALUES ${rows.map(row).join(', ')}`,
    rows.flat(),
  );
}

/** Chooses the model if nobody has, and tells it how long its vectors are. */
export async function modelKey(
  statements: Statements,
  corpus: VectorCorpus,
  model: string,
  dimensions: number | undefined,
): Promise<number> {
  const models = `carrel.${corpus}_models`;
  const read = () => statements.query(`SELECT key, dimensions FROM ${models} WHERE name = $1`, [model]);
  let [row] = await read();
  if (row === undefined) {
    // A text that is being written by somebody who cannot see the model yet would never come on the list.
    await statements.query(`LOCK TABLE ${owners[corpus]} IN SHARE ROW EXCLUSIVE MODE`);
    const [fresh] = await statements.query(
      `INSERT INTO ${models} (name, chosen) VALUES ($1, (SELECT coalesce(max(chosen), 0) + 1 FROM ${models}))
       ON CONFLICT DO NOTHING RETURNING key, dimensions`,
      [model],
    );
    if (fresh !== undefined) {
      await statements.query(
        `INSERT INTO carrel.${corpus}_unembedded (model, owner)
         SELECT $1, o.key FROM ${owners[corpus]} o WHERE ${isLive[corpus]}`,
        [numberOf(fresh, 'key')],
      );
    }
    row = fresh ?? (await read())[0] ?? {};
  }
  const key = numberOf(row, 'key');
  const stored = row['dimensions'];
  if (dimensions === undefined || stored === dimensions) return key;
  if (typeof stored === 'number') throw dimensionsError(model, stored, dimensions);
  await statements.query(`UPDATE ${models} SET dimensions = $1 WHERE key = $2`, [dimensions, key]);
  return key;
}
