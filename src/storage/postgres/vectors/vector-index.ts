import { setTimeout as delay } from 'node:timers/promises';
import { type SharedStore, withLease } from '../../../base/shared-store.ts';
import type { BackgroundWork } from '../../background-work.ts';
import type { StoredModel } from '../../dialect.ts';
import { numberOf } from '../../rows.ts';
import type { VectorCorpus } from '../../vectors/vector.ts';
import type { Connections } from '../connections/connections.ts';
import type { Connection } from '../connections/transaction.ts';

export interface VectorIndexDeps {
  /** The PostgreSQL schema that contains pgvector. */
  readonly extension: string;
  readonly background: BackgroundWork;
  readonly shared: () => SharedStore | undefined;
}

/** Max number of dimensions that pgvector can index as 16-bit numbers. */
const dimensionsMax = 4000;

/** Size of a vector's links while the index is built, in bytes. */
const linkBytes = 1_000;

/** Min number of vectors for an index. Fewer can be compared just as fast. */
const vectorsMin = 2_000;

/** Max waiting texts for building an index, as a share of the vectors. Adding most vectors later would be slower. */
const waitingShareMax = 0.5;

const pauseMinMs = 1_000;
const pauseMaxMs = 60_000;
const pausePerCheck = 20;

/** Returns the pause before the next check: a multiple of the last check's time, because counting vectors may take long. */
export function pauseAfterCheck(checkMs: number, isReady: boolean): number {
  return isReady ? pauseMaxMs : Math.min(pauseMaxMs, Math.max(pauseMinMs, pausePerCheck * checkMs));
}

export function indexName(corpus: VectorCorpus, model: number): string {
  return `carrel.${corpus}_vectors_nearest_${model}`;
}

/**
 * Returns a function that builds the HNSW index of one model in the background, if it is missing and worthwhile. Others can
 * read and write meanwhile. Without the index, a search compares every vector.
 */
export function createEnsureIndex(
  connections: Connections,
  { extension, background, shared }: VectorIndexDeps,
): (corpus: VectorCorpus, model: StoredModel) => void {
  /** The indexes with a current or recent check. True if another check was requested meanwhile. */
  const checks = new Map<string, boolean>();
  return (corpus, { key, dimensions }) => {
    if (dimensions === undefined || dimensions > dimensionsMax) return;
    const name = indexName(corpus, key);
    if (checks.has(name)) checks.set(name, true);
    else void check(name, { corpus, key, dimensions });
  };

  async function check(name: string, model: IndexedModel): Promise<void> {
    do {
      checks.set(name, false);
      const startMs = performance.now();
      let isReady = false;
      await background.run(`build index ${name}`, async () => {
        isReady = await ensure(model);
      });
      await delay(pauseAfterCheck(performance.now() - startMs, isReady), undefined, { ref: false });
    } while (checks.get(name) === true);
    checks.delete(name);
  }

  /** Builds the index if it is missing and worthwhile. Returns true if no index is missing. */
  async function ensure(model: IndexedModel): Promise<boolean> {
    const store = shared();
    if (store === undefined) return false;
    if (!isMissing(await readState(model))) return true;
    if (!(await connections.outsideTransaction((statements) => isWorthIt(statements, model)))) return false;
    // Two concurrent builds on one table would deadlock, because each waits for the other's snapshot.
    await withLease(store, { kind: 'lease', id: `carrel.${model.corpus}_vectors_nearest` }, async () => {
      // While this process waited, another one may have built the index or dropped the model.
      const state = await readState(model);
      if (isMissing(state)) await connections.outsideTransaction((statements) => build(statements, model, state));
    });
    return true;
  }

  function readState(model: IndexedModel): Promise<IndexState> {
    return connections.read((statements) => stateOf(statements, model));
  }

  async function build(statements: Connection, model: IndexedModel, state: IndexState): Promise<void> {
    // A process that died while building leaves an invalid index.
    if (state === 'invalid') await drop(statements, model);
    try {
      await setMemory(statements, model);
      await create(statements, model);
    } finally {
      await statements.query('RESET maintenance_work_mem; RESET max_parallel_maintenance_workers');
    }
    // The model may have been dropped while the index was built.
    if ((await stateOf(statements, model)) === 'obsolete') await drop(statements, model);
    // Updates the statistics by which a search chooses between using the index and comparing all matches.
    if (model.corpus === 'kb') await statements.query('ANALYZE carrel.kb_vectors (model, labels)');
  }

  async function create(statements: Connection, model: IndexedModel): Promise<void> {
    const { corpus, key, dimensions } = model;
    const sql = `CREATE INDEX CONCURRENTLY ${corpus}_vectors_nearest_${key} ON carrel.${corpus}_vectors
       USING hnsw ((vector::${extension}.halfvec(${dimensions})) ${extension}.halfvec_ip_ops)
       WITH (ef_construction = 128) WHERE model = ${key}`;
    try {
      await statements.query(sql);
    } catch {
      // Parallel workers need shared memory, which may be scarce in a container. A single worker needs none.
      await drop(statements, model);
      await statements.query('SET max_parallel_maintenance_workers = 0');
      await statements.query(sql);
    }
  }
}

interface IndexedModel {
  readonly corpus: VectorCorpus;
  readonly key: number;
  readonly dimensions: number;
}

type IndexState = 'obsolete' | 'missing' | 'invalid' | 'ready';

function isMissing(state: IndexState): boolean {
  return state === 'missing' || state === 'invalid';
}

async function stateOf(statements: Connection, { corpus, key }: IndexedModel): Promise<IndexState> {
  const [model] = await statements.query(
    `SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($2)) AS valid
     FROM carrel.vector_models WHERE key = $1 AND name IS NOT NULL`,
    [key, indexName(corpus, key)],
  );
  if (model === undefined) return 'obsolete';
  if (model['valid'] === null) return 'missing';
  return model['valid'] === true ? 'ready' : 'invalid';
}

/** Returns true if an index is worthwhile. Call it without the read timeout, because counting may take long. */
async function isWorthIt(statements: Connection, { corpus, key }: IndexedModel): Promise<boolean> {
  const [row = {}] = await statements.query(
    `SELECT (SELECT count(*) FROM carrel.${corpus}_vectors WHERE model = $1) AS vectors,
       (SELECT count(*) FROM carrel.${corpus}_unembedded WHERE model = $1) AS waiting`,
    [key],
  );
  const vectors = numberOf(row, 'vectors');
  return vectors >= vectorsMin && numberOf(row, 'waiting') <= waitingShareMax * vectors;
}

/**
 * Sets the memory for building an index. An index that does not fit into `maintenance_work_mem` takes many times as long to
 * build. It therefore gets what it needs, up to a quarter of `effective_cache_size`, or the configured value if that is higher.
 */
async function setMemory(statements: Connection, { corpus, key, dimensions }: IndexedModel): Promise<void> {
  await statements.query(
    `SELECT set_config('maintenance_work_mem', greatest(m.setting::bigint, least(c.setting::bigint * 8 / 4,
       (SELECT count(*) FROM carrel.${corpus}_vectors WHERE model = $1) * $2 / 1024))::text, false)
     FROM pg_settings m, pg_settings c WHERE m.name = 'maintenance_work_mem' AND c.name = 'effective_cache_size'`,
    [key, 2 * dimensions + linkBytes],
  );
}

function drop(statements: Connection, { corpus, key }: IndexedModel): Promise<unknown> {
  return statements.query(`DROP INDEX CONCURRENTLY IF EXISTS ${indexName(corpus, key)}`);
}
