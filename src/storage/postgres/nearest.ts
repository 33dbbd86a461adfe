import { setTimeout as delay } from 'node:timers/promises';
import type { VectorCorpus } from '../contracts/vectors.ts';
import type { StoredModel } from '../dialect.ts';
import { numberOf, textOf } from '../rows.ts';
import { matchingEntries } from '../stores/entries/read-entries.ts';
import type { NearestOperations } from '../stores/vectors/vector-store.ts';
import { createCodedSearch } from './coded-search.ts';
import type { Connections, PostgresConfig } from './connections.ts';
import { createNearestVectors } from './nearest-vectors.ts';
import { passageCondition } from './passage-table.ts';
import type { Connection } from './transaction.ts';
import { indexTurn, inTurn } from './turns.ts';
import { areComplete, createVectorCodes, type VectorCodes } from './vector-codes.ts';
import { createWideLabels } from './wide-labels.ts';

export interface Nearest {
  readonly indexes: Readonly<Record<VectorCorpus, NearestIndexes>>;
  readonly operations: NearestOperations;
}

/** Undefined without pgvector: nothing is found by the database then, and those who search keep an image of it. */
export async function createNearest(
  connections: Connections,
  { wideLabelMin }: Pick<PostgresConfig, 'wideLabelMin'> = {},
): Promise<Nearest | undefined> {
  const extension = await findExtension(connections);
  if (extension === undefined) return undefined;
  const indexes = {
    context: createNearestIndexes(connections, { corpus: 'context', extension }),
    kb: createNearestIndexes(connections, {
      corpus: 'kb',
      extension,
      codes: createVectorCodes(connections, extension),
    }),
  };
  return {
    indexes,
    operations: {
      // A filter of entries is more than a condition that a database could be asked.
      context: createNearestVectors('context', { extension, narrow: matchingEntries }),
      kb: createNearestVectors('kb', {
        extension,
        narrow: async (_, filter) => passageCondition(filter),
        coded: createCodedSearch(extension, createWideLabels(connections, wideLabelMin)),
      }),
      removeIndex: (corpus, model) => indexes[corpus].remove(model),
    },
  };
}

/** The approximate index over the vectors of one model, made and removed while others read and write. */
export interface NearestIndexes {
  /** Makes it in the background, where it is missing and worth it. Until it is there, a search looks at every vector. */
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

/**
 * With fewer vectors, comparing all of them takes no longer. And while more than this share of them still waits, the index is left
 * for later: vector by vector it takes six times as long as when it is made of what is there.
 */
const vectorsMin = 2_000;
const waitingShareMax = 0.5;

/** How soon it is asked again whether it is time, at least, and by how many times what the last look took. */
const soonestMs = 1_000;
const timesTheLook = 20;

/** Somebody may have dropped it, for a large load. */
const againMs = 60_000;

interface IndexedVectors {
  readonly corpus: VectorCorpus;
  readonly extension: string;
  /** Made with the index, after it. */
  readonly codes?: VectorCodes;
}

function createNearestIndexes(connections: Connections, { corpus, extension, codes }: IndexedVectors): NearestIndexes {
  /** Those that were looked at just now. */
  const looks = new Map<number, { isWanted: boolean }>();
  const ensure = ({ key, dimensions }: StoredModel): void => {
    if (dimensions === undefined || dimensions > dimensionsMax) return;
    const last = looks.get(key);
    if (last !== undefined) {
      last.isWanted = true;
      return;
    }
    const look = { isWanted: false };
    looks.set(key, look);
    const startMs = performance.now();
    ensured(key, dimensions)
      .catch(() => false)
      .then(async (isThere) => {
        const soonMs = Math.max(soonestMs, timesTheLook * (performance.now() - startMs));
        await delay(isThere ? againMs : Math.min(againMs, soonMs), undefined, { ref: false });
        looks.delete(key);
        if (look.isWanted && !isThere) ensure({ key, dimensions });
      });
  };
  return {
    ensure,
    async remove(model) {
      looks.delete(model);
      await change(async () => {
        await connections.alone((statements) => drop(statements, model));
        await codes?.remove(model);
      });
    },
  };

  /** Whether it is there, or not needed any more. */
  async function ensured(model: number, dimensions: number): Promise<boolean> {
    const state = await connections.read((statements) => stateOf(statements, model));
    if (state === 'unwanted' || state === 'made') return true;
    if (state === 'missing' && !(await connections.alone((statements) => isWorthIt(statements, model)))) return false;
    await change(() => make(model, dimensions));
    return true;
  }

  /** To count many takes longer than a read may. */
  async function isWorthIt(statements: Connection, model: number): Promise<boolean> {
    const [row = {}] = await statements.query(
      `SELECT (SELECT count(*) FROM carrel.${corpus}_vectors WHERE model = $1) AS vectors,
         (SELECT count(*) FROM carrel.${corpus}_unembedded WHERE model = $1) AS waiting`,
      [model],
    );
    const vectors = numberOf(row, 'vectors');
    return vectors >= vectorsMin && numberOf(row, 'waiting') <= waitingShareMax * vectors;
  }

  /**
   * Two that make or remove an index of one table wait for one another's snapshots, which PostgreSQL ends as a deadlock. So
   * they take turns, in all processes, and whoever has to wait does so without a statement that has a snapshot.
   */
  function change(work: () => Promise<unknown>): Promise<void> {
    return inTurn(connections, indexTurn(corpus), work);
  }

  /** A process that died over it has left an index that is not valid. A model may have been dropped before its turn came. */
  async function make(model: number, dimensions: number): Promise<void> {
    const state = await connections.read((statements) => stateOf(statements, model));
    if (state === 'unwanted' || state === 'made') return;
    if (state === 'broken') await connections.alone((statements) => drop(statements, model));
    if (state !== 'uncoded') {
      await connections.alone((statements) =>
        withMemory(statements, { corpus, model, dimensions }, () => create(statements, model, dimensions)),
      );
    }
    await codes?.make({ key: model, dimensions });
  }

  async function create(statements: Connection, model: number, dimensions: number): Promise<void> {
    const sql = `CREATE INDEX CONCURRENTLY ${corpus}_vectors_nearest_${model} ON carrel.${corpus}_vectors
       USING hnsw ((vector::${extension}.halfvec(${dimensions})) ${extension}.halfvec_ip_ops)
       WITH (ef_construction = 128) WHERE model = ${model}`;
    try {
      await statements.query(sql);
    } catch {
      // Several workers share memory, of which a container may have little; one alone has its own.
      await drop(statements, model);
      await statements.query('SET max_parallel_maintenance_workers = 0');
      await statements.query(sql);
    }
  }

  async function stateOf(
    statements: Connection,
    model: number,
  ): Promise<'unwanted' | 'missing' | 'broken' | 'uncoded' | 'made'> {
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
    if (numberOf(index, 'valid') !== 1) return 'broken';
    return codes === undefined || (await areComplete(statements, model)) ? 'made' : 'uncoded';
  }

  function drop(statements: Connection, model: number): Promise<unknown> {
    return statements.query(`DROP INDEX CONCURRENTLY IF EXISTS ${nameOf(model)}`);
  }

  function nameOf(model: number): string {
    return `carrel.${corpus}_vectors_nearest_${model}`;
  }
}

/** Of a vector in an index that is being made, besides its numbers: what it is connected with. */
const bytesBesides = 1_000;

/**
 * An index that does not fit into the memory it is made in takes many times as long. So it gets what it needs, up to a quarter of what
 * the server says it has for caches, or what the user has been given for such work if that is more.
 */
async function withMemory(
  statements: Connection,
  { corpus, model, dimensions }: { corpus: VectorCorpus; model: number; dimensions: number },
  work: () => Promise<void>,
): Promise<void> {
  await statements.query(
    `SELECT set_config('maintenance_work_mem', greatest(m.setting::bigint, least(c.setting::bigint * 8 / 4,
       (SELECT count(*) FROM carrel.${corpus}_vectors WHERE model = $1) * $2 / 1024))::text, false)
     FROM pg_settings m, pg_settings c WHERE m.name = 'maintenance_work_mem' AND c.name = 'effective_cache_size'`,
    [model, 2 * dimensions + bytesBesides],
  );
  try {
    await work();
  } finally {
    await statements.query('RESET maintenance_work_mem; RESET max_parallel_maintenance_workers');
  }
}
