import type { Operation, Statements } from '../dialect.ts';
import type { EntryFilter } from '../entries/entry.ts';
import { matchingEntries } from '../entries/search-entries.ts';
import type { PassageFilter } from '../passages/passage.ts';
import { numberOf, optionalTextOf } from '../rows.ts';
import { passageWords } from '../words/word-indexes.ts';
import { findModel, isLive, type ModelRequest, ownersOf } from './models.ts';
import { dotProduct } from './quantise.ts';
import {
  blockOf,
  type NearestRequest,
  type ScoredVector,
  type ScoreRequest,
  type VectorBlock,
  type VectorCorpus,
  type VectorSnapshot,
  type VectorState,
} from './vector.ts';

export async function vectorState(db: Statements, request: ModelRequest): Promise<VectorState> {
  const { corpus } = request;
  const stored = await findModel(db, request);
  const key = stored?.key ?? 0;
  const removals = `${corpus}_vector_removals`;
  // Each subquery is one index lookup, except the count of waiting texts, whose list is usually short.
  const [row = {}] = await db.query(
    `SELECT (SELECT coalesce(max(key), 0) FROM ${corpus}_vectors WHERE model = ?) AS last_key,
       (SELECT coalesce(min(number), 1) FROM ${removals}) AS first_removal,
       (SELECT coalesce(max(number), 0) FROM ${removals}) AS last_removal,
       (SELECT count(*) FROM ${corpus}_unembedded WHERE model = ?) AS pending`,
    [key, key],
  );
  return {
    isChosen: stored !== undefined,
    lastKey: numberOf(row, 'last_key'),
    firstRemoval: numberOf(row, 'first_removal'),
    lastRemoval: numberOf(row, 'last_removal'),
    pending: stored === undefined ? await countOwners(db, corpus) : numberOf(row, 'pending'),
  };
}

/** Returns stored vectors after a key, in key order, for an index that already has all earlier ones. */
export async function vectorsAfter(
  db: Statements,
  { corpus, model, after, limit }: ModelRequest & { readonly after: number; readonly limit: number },
): Promise<VectorBlock> {
  const { vectors } = db.dialect;
  const stored = await findModel(db, { corpus, model });
  const rows = await db.query(
    `SELECT key, owner, ${vectors.column} FROM ${corpus}_vectors WHERE model = ? AND key > ? ORDER BY key LIMIT ?`,
    [stored?.key ?? 0, after, limit],
  );
  return blockOf(
    rows.map((row) => ({ key: numberOf(row, 'key'), owner: numberOf(row, 'owner'), vector: vectors.decode(row) })),
  );
}

/** Returns the keys of removed vectors, in order of removal. `after` is the number of the last removal that the caller knows. */
export async function removedVectors(
  db: Statements,
  { corpus, after, limit }: { readonly corpus: VectorCorpus; readonly after: number; readonly limit: number },
): Promise<{ number: number; key: number }[]> {
  const rows = await db.query(
    `SELECT number, vector FROM ${corpus}_vector_removals WHERE number > ? ORDER BY number LIMIT ?`,
    [after, limit],
  );
  return rows.map((row) => ({ number: numberOf(row, 'number'), key: numberOf(row, 'vector') }));
}

/** Returns exact scores of the vectors that an index found, in any order. Omits vectors removed meanwhile. */
export async function scoreVectors(
  db: Statements,
  { corpus, query, keys }: ScoreRequest & { readonly corpus: VectorCorpus },
): Promise<ScoredVector[]> {
  const { integers, vectors } = db.dialect;
  const rows = await db.query(
    `SELECT key, owner, start_at, end_at, ${vectors.column} FROM ${corpus}_vectors WHERE key IN (${integers})`,
    [{ list: keys }],
  );
  return rows.map((row) => ({
    key: numberOf(row, 'key'),
    owner: numberOf(row, 'owner'),
    start: numberOf(row, 'start_at'),
    end: numberOf(row, 'end_at'),
    score: dotProduct(query, vectors.decode(row)),
  }));
}

async function countOwners(db: Statements, corpus: VectorCorpus): Promise<number> {
  const [row = {}] = await db.query(`SELECT count(*) AS total FROM ${ownersOf[corpus]} o WHERE ${isLive[corpus]}`);
  return numberOf(row, 'total');
}

export async function readEntrySnapshot(db: Statements, request: NearestRequest<EntryFilter>): Promise<VectorSnapshot> {
  return readSnapshot(db, 'context', request, db.dialect.vectors.nearest?.context, matchingEntries);
}

export async function readPassageSnapshot(
  db: Statements,
  request: NearestRequest<PassageFilter>,
): Promise<VectorSnapshot> {
  return readSnapshot(db, 'kb', request, db.dialect.vectors.nearest?.kb, matchingPassages);
}

/** Returns the keys of the passages that pass the filter. */
export async function matchingPassages(db: Statements, { labels = [] }: PassageFilter): Promise<number[]> {
  const all = { sql: 'SELECT key FROM kb_passages', values: [] };
  const { sql, values } = db.dialect.words.labelFilter(passageWords, labels) ?? all;
  // Returned as one text, because one row per key would take several times as long.
  const [row = {}] = await db.query(`SELECT string_agg(CAST(key AS text), ' ') AS keys FROM (${sql}) f`, values);
  return (optionalTextOf(row, 'keys')?.split(' ') ?? []).map(Number);
}

async function readSnapshot<Filter>(
  db: Statements,
  corpus: VectorCorpus,
  request: NearestRequest<Filter>,
  nearest: Operation<NearestRequest<Filter>, ScoredVector[]> | undefined,
  matching: Operation<Filter, number[]>,
): Promise<VectorSnapshot> {
  const { model, filter } = request;
  const state = await vectorState(db, { corpus, model });
  if (nearest) return { state, nearest: await nearest(db, request), matching: undefined };
  return { state, nearest: undefined, matching: filter && (await matching(db, filter)) };
}
