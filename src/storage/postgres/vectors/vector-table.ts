import type { NearestFinders, Statements, VectorTable } from '../../dialect.ts';
import { matchingEntries } from '../../entries/search-entries.ts';
import type { PassageFilter } from '../../passages/passage.ts';
import { textOf } from '../../rows.ts';
import { storable } from '../../storable.ts';
import { ownersOf } from '../../vectors/models.ts';
import type { Connections } from '../connections/connections.ts';
import { arrayText, createVectorSearch, type Matching } from './search-vectors.ts';
import { createEnsureIndex, indexName, type VectorIndexDeps } from './vector-index.ts';

/** Stores vectors as arrays, which need no extension. Without pgvector, each process searches a copy in memory. */
export function createVectorTable(nearest: Nearest | undefined): VectorTable {
  return {
    nearest,
    column: 'vector::text AS vector',
    encode: arrayText,
    decode: (row) => Float32Array.from(textOf(row, 'vector').slice(1, -1).split(','), Number),
    modelLock: 'FOR KEY SHARE',
    async beforeAddingModel(db, corpus) {
      await db.query(`LOCK TABLE carrel.${ownersOf[corpus]} IN SHARE ROW EXCLUSIVE MODE`);
    },
    /** Locks only if pgvector is missing: in-memory copies read vectors in key order, but an index needs no order. */
    async beforeAddingVectors(db, corpus) {
      await db.query(
        `SELECT pg_advisory_xact_lock(hashtextextended(?, 0))
         WHERE NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector')`,
        [`carrel.${corpus}_vectors`],
      );
    },
    ensureIndex: (corpus, model) => nearest?.ensureIndex(corpus, model),
    async dropIndex(db, corpus, model) {
      // Gives up soon, because searches wait behind this lock request. `VectorStore.drop` retries.
      await db.query("SET LOCAL lock_timeout = '500ms'");
      await db.query(`DROP INDEX IF EXISTS ${indexName(corpus, model)}`);
    },
    async indexState(db, corpus, model) {
      if (nearest === undefined) return 'memory';
      const [row] = await db.query('SELECT 1 AS valid FROM pg_index WHERE indexrelid = to_regclass(?) AND indisvalid', [
        indexName(corpus, model),
      ]);
      return row === undefined ? 'none' : 'ready';
    },
  };
}

export interface Nearest extends NearestFinders {
  readonly ensureIndex: VectorTable['ensureIndex'];
}

/** Creates the searches that use pgvector. Returns undefined if it is missing. */
export async function createNearest(
  connections: Connections,
  deps: Omit<VectorIndexDeps, 'extension'>,
): Promise<Nearest | undefined> {
  const extension = await findExtension(connections);
  if (extension === undefined) return undefined;
  return {
    context: createVectorSearch('context', extension, matchingEntries),
    kb: createVectorSearch('kb', extension, matchingVectors),
    ensureIndex: createEnsureIndex(connections, { extension, ...deps }),
  };
}

/** Returns a condition for vectors with at least one label of each group. Each vector has a copy of its passage's labels. */
async function matchingVectors(_: Statements, { labels = [] }: PassageFilter): Promise<Matching> {
  if (labels.length === 0) return undefined;
  return {
    sql: labels.map(() => 'v.labels && ?::text[]').join(' AND '),
    values: labels.map((group) => ({ list: group.map(storable) })),
  };
}

/** Returns the schema that contains pgvector, and installs pgvector if necessary. Returns undefined if that is not possible. */
async function findExtension(connections: Connections): Promise<string | undefined> {
  const find = () =>
    connections.read(async (statements) => {
      const [row] = await statements.query(
        "SELECT quote_ident(n.nspname) AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'",
      );
      return row === undefined ? undefined : textOf(row, 'name');
    });
  const installed = await find();
  if (installed !== undefined) return installed;
  try {
    // Not in the schema `carrel`: restoring a backup drops that schema.
    const install = 'SET LOCAL search_path TO DEFAULT; CREATE EXTENSION IF NOT EXISTS vector';
    await connections.write((statements) => statements.query(install));
  } catch {
    // The server has no pgvector, the user may not install it, or another process has just done so.
  }
  return find();
}
