import { setTimeout as delay } from 'node:timers/promises';
import type { BackgroundWork } from '../../background-work.ts';
import type { StoredModel } from '../../dialect.ts';
import { numberOf } from '../../rows.ts';
import type { VectorCorpus } from '../../vectors/vector.ts';
import type { Connections } from '../connections/connections.ts';
import { withLease } from '../connections/lease.ts';
import type { Connection } from '../connections/transaction.ts';

/** The HNSW index over the vectors of one model, built and dropped while others read and write. */
export interface VectorIndexes {
  /** Builds it in the background if it is missing and worth it. Until then a search compares every vector. */
  ensure(model: StoredModel): void;
  remove(model: number): Promise<void>;
}

export interface VectorIndexDeps {
  readonly corpus: VectorCorpus;
  /** The schema of pgvector. */
  readonly extension: string;
  readonly background: BackgroundWork;
}

/** Max dimensions that pgvector indexes as 16-bit numbers. */
const dimensionsMax = 4000;

/** Bytes of a vector's links in an index under construction. */
const linkBytes = 1_000;

/** Fewer vectors are compared as fast without an index. */
const vectorsMin = 2_000;

/** Building an index at once is six times as fast as adding vectors one by one, so it waits until most vectors exist. */
const waitingShareMax = 0.5;

/** Pause before the next check: a multiple of the last one's time, within these bounds. */
const pauseMinMs = 1_000;
const pauseMaxMs = 60_000;
const pausePerCheck = 20;

export function indexName(corpus: VectorCorpus, model: number): string {
  return `carrel.${corpus}_vectors_nearest_${model}`;
}

type IndexState = 'unwanted' | 'missing' | 'invalid' | 'ready';

export function createVectorIndexes(connections: Connections, deps: VectorIndexDeps): VectorIndexes {
  const { corpus, extension, background } = deps;
  /** Models whose check is running or has just run. */
  const checks = new Map<number, { isRepeated: boolean }>();
  return {
    ensure({ key, dimensions }) {
      if (dimensions === undefined || dimensions > dimensionsMax) return;
      const running = checks.get(key);
      if (running === undefined) void check(key, dimensions);
      else running.isRepeated = true;
    },
    remove: (model) => changeIndexes(() => connections.alone((statements) => drop(statements, model))),
  };

  /** Runs again if requested meanwhile and there is no index yet. */
  async function check(model: number, dimensions: number): Promise<void> {
    for (let isDone = false; !isDone; ) {
      const own = { isRepeated: false };
      checks.set(model, own);
      const startMs = performance.now();
      await background.run(`build index ${indexName(corpus, model)}`, async () => {
        isDone = await buildIfNeeded(model, dimensions);
      });
      const pauseMs = Math.max(pauseMinMs, pausePerCheck * (performance.now() - startMs));
      // A ready index is checked again too: somebody may drop it for a large load.
      await delay(isDone ? pauseMaxMs : Math.min(pauseMaxMs, pauseMs), undefined, { ref: false });
      if (!own.isRepeated) break;
    }
    checks.delete(model);
  }

  /** True if the index is ready or no longer needed. */
  async function buildIfNeeded(model: number, dimensions: number): Promise<boolean> {
    const state = await connections.read((statements) => stateOf(statements, model));
    if (state === 'unwanted' || state === 'ready') return true;
    if (state === 'missing' && !(await connections.alone((statements) => isWorthIt(statements, model)))) return false;
    await changeIndexes(() => build(model, dimensions));
    return true;
  }

  /** Without the read timeout, because counting may take long. */
  async function isWorthIt(statements: Connection, model: number): Promise<boolean> {
    const [row = {}] = await statements.query(
      `SELECT (SELECT count(*) FROM carrel.${corpus}_vectors WHERE model = $1) AS vectors,
         (SELECT count(*) FROM carrel.${corpus}_unembedded WHERE model = $1) AS waiting`,
      [model],
    );
    const vectors = numberOf(row, 'vectors');
    return vectors >= vectorsMin && numberOf(row, 'waiting') <= waitingShareMax * vectors;
  }

  /** Two concurrent index changes on one table wait for each other's snapshots, which PostgreSQL ends as a deadlock. */
  function changeIndexes(work: () => Promise<unknown>): Promise<void> {
    return withLease(connections, `carrel.${corpus}_vectors_nearest`, work);
  }

  /** Another process may have built it, or dropped the model, during the wait for the lease. */
  async function build(model: number, dimensions: number): Promise<void> {
    const state = await connections.read((statements) => stateOf(statements, model));
    if (state === 'unwanted' || state === 'ready') return;
    await connections.alone(async (statements) => {
      // A process that died while building leaves an invalid index.
      if (state === 'invalid') await drop(statements, model);
      try {
        await setMemory(statements, model, dimensions);
        await create(statements, model, dimensions);
      } finally {
        await statements.query('RESET maintenance_work_mem; RESET max_parallel_maintenance_workers');
      }
      // A search chooses between index and comparison by these statistics, which may be outdated.
      if (corpus === 'kb') await statements.query('ANALYZE carrel.kb_vectors (model, labels)');
    });
  }

  /**
   * An index that does not fit into `maintenance_work_mem` takes many times as long to build. It gets what it needs, up to a
   * quarter of `effective_cache_size`, or the configured value if that is more.
   */
  async function setMemory(statements: Connection, model: number, dimensions: number): Promise<void> {
    await statements.query(
      `SELECT set_config('maintenance_work_mem', greatest(m.setting::bigint, least(c.setting::bigint * 8 / 4,
         (SELECT count(*) FROM carrel.${corpus}_vectors WHERE model = $1) * $2 / 1024))::text, false)
       FROM pg_settings m, pg_settings c WHERE m.name = 'maintenance_work_mem' AND c.name = 'effective_cache_size'`,
      [model, 2 * dimensions + linkBytes],
    );
  }

  async function create(statements: Connection, model: number, dimensions: number): Promise<void> {
    const sql = `CREATE INDEX CONCURRENTLY ${corpus}_vectors_nearest_${model} ON carrel.${corpus}_vectors
       USING hnsw ((vector::${extension}.halfvec(${dimensions})) ${extension}.halfvec_ip_ops)
       WITH (ef_construction = 128) WHERE model = ${model}`;
    try {
      await statements.query(sql);
    } catch {
      // Parallel workers need shared memory, which may be scarce in a container. A single worker needs none.
      await drop(statements, model);
      await statements.query('SET max_parallel_maintenance_workers = 0');
      await statements.query(sql);
    }
  }

  async function stateOf(statements: Connection, model: number): Promise<IndexState> {
    const [known] = await statements.query(`SELECT key FROM carrel.vector_models WHERE key = $1 AND name IS NOT NULL`, [
      model,
    ]);
    if (known === undefined) return 'unwanted';
    const [index] = await statements.query(
      'SELECT indisvalid::int AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [indexName(corpus, model)],
    );
    if (index === undefined) return 'missing';
    return numberOf(index, 'valid') === 1 ? 'ready' : 'invalid';
  }

  function drop(statements: Connection, model: number): Promise<unknown> {
    return statements.query(`DROP INDEX CONCURRENTLY IF EXISTS ${indexName(corpus, model)}`);
  }
}
