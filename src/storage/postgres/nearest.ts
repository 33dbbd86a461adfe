import type { VectorCorpus } from '../contracts/vectors.ts';
import type { StoredModel } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { matchingEntries } from '../stores/entries/read-entries.ts';
import type { NearestOperations } from '../stores/vectors/vector-store.ts';
import type { Connection, Connections } from './connections.ts';
import { createNearestVectors } from './nearest-vectors.ts';
import { passageCondition } from './passage-table.ts';
import { inTurn } from './turns.ts';

export interface Nearest {
  readonly indexes: Readonly<Record<VectorCorpus, NearestIndexes>>;
  readonly operations: NearestOperations;
}

/** Undefined without pgvector: nothing is found by the database then, and those who search keep an image of it. */
export async function createNearest(connections: Connections): Promise<Nearest | undefined> {
  const extension = await findExtension(connections);
  if (extension === undefined) return undefined;
  const indexes = {
    context: createNearestIndexes(connections, 'context', extension),
    kb: createNearestIndexes(connections, 'kb', extension),
  };
  return {
    indexes,
    operations: {
      // A filter of entries is more than a condition that a database could be asked.
      context: createNearestVectors('context', { extension, narrow: matchingEntries }),
      kb: createNearestVectors('kb', { extension, narrow: async (_, filter) => passageCondition(filter) }),
      removeIndex: (corpus, model) => indexes[corpus].remove(model),
    },
  };
}

/** The approximate index over the vectors of one model, made and removed while others read and write. */
export interface NearestIndexes {
  /** Makes it in the background, where it is missing. Until it is there, a search looks at every vector. */
  ensure(model: StoredModel): void;
  remove(model: number): Promise<void>;
}

/** Where pgvector is installed; undefined where it is not and cannot be by the user that we are. */
async function findExtension(connections: Connections): Promise<string | undefined> {
  const find = () =>
    connections.read(async (statements) => {
      const [row] = await statements.query(
        "SELECT quote_ident(n.nspname) AS name FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'",
      );
      return row === undefined ? undefined : textOf(row, 'name');
    });
  const found = await find();
  if (found !== undefined) return found;
  try {
    await connections.write((statements) => statements.query('CREATE EXTENSION IF NOT EXISTS vector'));
  } catch {
    // Not on the server, or not ours to install. Another process may just have done it, which is an error here, too.
  }
  return find();
}

/** pgvector indexes numbers of 16 bits up to this length. */
const dimensionsMax = 4000;

function createNearestIndexes(connections: Connections, corpus: VectorCorpus, extension: string): NearestIndexes {
  const known = new Set<number>();
  return {
    ensure({ key, dimensions }) {
      if (dimensions === undefined || dimensions > dimensionsMax || known.has(key)) return;
      known.add(key);
      change(() => make(key, dimensions))
        // Whoever searches next tries again.
        .catch(() => known.delete(key));
    },
    async remove(model) {
      known.delete(model);
      await change(() => connections.alone((statements) => drop(statements, model)));
    },
  };

  /**
   * Two that make or remove an index of one table wait for one another's snapshots, which PostgreSQL ends as a deadlock. So
   * they take turns, in all processes, and whoever has to wait does so without a statement that has a snapshot.
   */
  function change(work: () => Promise<unknown>): Promise<void> {
    return inTurn(connections, `carrel.${corpus}_vectors_nearest`, work);
  }

  /** A process that died over it has left an index that is not valid. A model may have been dropped before its turn came. */
  async function make(model: number, dimensions: number): Promise<void> {
    const state = await connections.read((statements) => stateOf(statements, model));
    if (state === 'unwanted' || state === 'made') return;
    if (state === 'broken') await connections.alone((statements) => drop(statements, model));
    await connections.alone((statements) =>
      statements.query(
        `CREATE INDEX CONCURRENTLY ${corpus}_vectors_nearest_${model} ON carrel.${corpus}_vectors
         USING hnsw ((vector::${extension}.halfvec(${dimensions})) ${extension}.halfvec_ip_ops)
         WITH (ef_construction = 128) WHERE model = ${model}`,
      ),
    );
  }

  async function stateOf(statements: Connection, model: number): Promise<'unwanted' | 'missing' | 'broken' | 'made'> {
    const [known] = await statements.query(
      `SELECT key FROM carrel.${corpus}_models WHERE key = $1 AND name IS NOT NULL`,
      [model],
    );
    if (known === undefined) return 'unwanted';
    const [index] = await statements.query(
      'SELECT indisvalid::int AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [nameOf(model)],
    );
    if (index === undefined) return 'missing';
    return numberOf(index, 'valid') === 1 ? 'made' : 'broken';
  }

  function drop(statements: Connection, model: number): Promise<unknown> {
    return statements.query(`DROP INDEX CONCURRENTLY IF EXISTS ${nameOf(model)}`);
  }

  function nameOf(model: number): string {
    return `carrel.${corpus}_vectors_nearest_${model}`;
  }
}
