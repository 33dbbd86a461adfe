import {
  blockOf,
  type RemovedAfter,
  type RemovedVector,
  type ScoredVector,
  type ScoreRequest,
  scored,
  type VectorBlock,
  type VectorCorpus,
  type VectorState,
  type VectorsAfter,
} from '../../contracts/vectors.ts';
import type { Statements } from '../../dialect.ts';
import { numberOf } from '../../rows.ts';
import { findModel, isLive, type ModelRequest, ownersOf } from './models.ts';

export async function vectorState(on: Statements, request: ModelRequest): Promise<VectorState> {
  const { schema } = on.dialect;
  const { corpus } = request;
  const own = await findModel(on, request);
  const key = own?.key ?? 0;
  const removals = `${schema}${corpus}_vector_removals`;
  // Each of these is one step down an index, except for the list of what waits, which is short.
  const [row = {}] = await on.query(
    `SELECT (SELECT coalesce(max(key), 0) FROM ${schema}${corpus}_vectors WHERE model = ?) AS last_key,
       (SELECT coalesce(min(number), 1) FROM ${removals}) AS first_removal,
       (SELECT coalesce(max(number), 0) FROM ${removals}) AS last_removal,
       (SELECT count(*) FROM ${schema}${corpus}_unembedded WHERE model = ?) AS pending`,
    [key, key],
  );
  return {
    chosen: own !== undefined,
    lastKey: numberOf(row, 'last_key'),
    firstRemoval: numberOf(row, 'first_removal'),
    lastRemoval: numberOf(row, 'last_removal'),
    pending: own === undefined ? await countOwners(on, corpus) : numberOf(row, 'pending'),
  };
}

export async function vectorsAfter(
  on: Statements,
  { corpus, model, ...range }: VectorsAfter & ModelRequest,
): Promise<VectorBlock> {
  const own = await findModel(on, { corpus, model });
  return own === undefined ? blockOf([]) : on.dialect.vectors.after(on, corpus, own.key, range);
}

/** One block. Where to go on; undefined when all is packed. */
export async function packVectors(
  on: Statements,
  { corpus, model, after }: ModelRequest & { readonly after: number },
): Promise<number | undefined> {
  const own = await findModel(on, { corpus, model });
  return own && on.dialect.vectors.pack(on, corpus, own.key, after);
}

export async function removedVectors(
  on: Statements,
  { corpus, after, limit }: RemovedAfter & { readonly corpus: VectorCorpus },
): Promise<RemovedVector[]> {
  const rows = await on.query(
    `SELECT number, vector FROM ${on.dialect.schema}${corpus}_vector_removals WHERE number > ? ORDER BY number LIMIT ?`,
    [after, limit],
  );
  return rows.map((row) => ({ number: numberOf(row, 'number'), key: numberOf(row, 'vector') }));
}

export async function scoreVectors(
  on: Statements,
  { corpus, query, keys }: ScoreRequest & { readonly corpus: VectorCorpus },
): Promise<ScoredVector[]> {
  const { schema, integers, vectors } = on.dialect;
  const rows = await on.query(
    `SELECT key, owner, start_at, end_at, ${vectors.column} FROM ${schema}${corpus}_vectors WHERE key IN (${integers})`,
    [{ list: keys }],
  );
  return rows.map((row) =>
    scored(query, {
      key: numberOf(row, 'key'),
      owner: numberOf(row, 'owner'),
      start: numberOf(row, 'start_at'),
      end: numberOf(row, 'end_at'),
      vector: vectors.decode(row),
    }),
  );
}

/** Vectors of a model between two keys, neither included, one by one. */
export async function singleVectors(
  on: Statements,
  corpus: VectorCorpus,
  model: number,
  { after, end, limit }: { readonly after: number; readonly end: number; readonly limit: number },
) {
  const { schema, vectors } = on.dialect;
  const rows = await on.query(
    `SELECT key, owner, ${vectors.column} FROM ${schema}${corpus}_vectors
     WHERE model = ? AND key > ? AND key < ? ORDER BY key LIMIT ?`,
    [model, after, end, limit],
  );
  return rows.map((row) => ({
    key: numberOf(row, 'key'),
    owner: numberOf(row, 'owner'),
    vector: vectors.decode(row),
  }));
}

async function countOwners(on: Statements, corpus: VectorCorpus): Promise<number> {
  const [row = {}] = await on.query(
    `SELECT count(*) AS total FROM ${on.dialect.schema}${ownersOf[corpus]} o WHERE ${isLive[corpus]}`,
  );
  return numberOf(row, 'total');
}
