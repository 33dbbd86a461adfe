import { setTimeout as delay } from 'node:timers/promises';
import type { Statements } from '../dialect.ts';
import { numberOf, type Row, textOf } from '../rows.ts';
import { storable } from '../storable.ts';
import type { Connections } from './connections.ts';
import type { Connection } from './transaction.ts';
import { indexTurn, inTurn } from './turns.ts';
import {
  areComplete,
  type CodedModel,
  hasTrigger,
  isWideTable,
  labelHash,
  namesOf,
  trigger,
  wideRemoval,
} from './vector-codes.ts';

/**
 * Labels that many passages have and that are searched for have their codes once more, as a table each: to read one from its
 * beginning to its end takes half as long as to read the rows of the label among those of all.
 *
 * The tables are copies of rows of the list by label, kept by triggers on that. A row too many does no harm: what is found is asked
 * about again.
 */
export interface WideLabels {
  /**
   * The tables with all that have one of the labels, which are about so many; undefined where one is missing. It is made in the
   * background then, if it is worth it.
   */
  find(
    on: Statements,
    model: CodedModel,
    labels: readonly string[],
    rows: number,
  ): Promise<readonly string[] | undefined>;
}

/** Passages of a label: with fewer, there is little to gain. */
export const wideLabelMin = 20_000;

/** A label has to lose so much of that before its table goes. */
const keptShare = 0.5;

const tablesMax = 32;

/** One that has not been searched for as long makes room for others. */
const usedWithin = "interval '1 day'";

/** Nobody reads a table any more that was taken back as long ago. */
const leftBefore = "interval '5 minutes'";

/** How often a label is looked at in one process. */
const againMs = 60_000;

const filledAtOnce = 20_000;

type State = 'wanted' | 'kept' | 'unwanted';

export function createWideLabels(connections: Connections, rowsMin = wideLabelMin): WideLabels {
  const looks = new Map<string, number>();
  let looking: Promise<unknown> = Promise.resolve();
  return {
    async find(on, model, labels, rows) {
      if (rows < rowsMin) return undefined;
      want(model, labels);
      return ready(on, model.key, labels);
    },
  };

  async function ready(on: Statements, model: number, labels: readonly string[]): Promise<string[] | undefined> {
    if (!(await hasTrigger(on, namesOf(model).listed, namesOf(model).wideAdded, 'steady'))) return undefined;
    const rows: Row[] = await on.query(
      `SELECT number FROM ${namesOf(model).wide} WHERE is_ready AND left_at IS NULL
           AND label = ANY (ARRAY(SELECT ${labelHash('l')} FROM unnest(?::text[]) l))`,
      [{ list: labels.map(storable) }],
    );
    if (rows.length < new Set(labels).size) return undefined;
    return rows.map((row) => tableOf(model, numberOf(row, 'number')));
  }

  function want(model: CodedModel, labels: readonly string[]): void {
    for (const label of labels) {
      const name = `${model.key} ${label}`;
      const now = performance.now();
      if (now - (looks.get(name) ?? Number.NEGATIVE_INFINITY) < againMs) continue;
      if (looks.size > 1000) looks.clear();
      looks.set(name, now);
      looking = looking.then(() => ensured(model, storable(label))).catch(() => {});
    }
  }

  async function ensured(model: CodedModel, label: string): Promise<void> {
    const state = await connections.alone((statements) => stateOf(statements, model.key, label));
    if (state === 'wanted') {
      await inTurn(connections, indexTurn('kb'), () => make(model, label));
    } else if (state === 'kept') {
      await connections.write((statements) => statements.query(touch(model.key), [label]));
    }
  }

  /** Counting the rows of a label takes longer than a read may. */
  async function stateOf(statements: Connection, model: number, label: string): Promise<State> {
    if (!(await areComplete(statements, model))) return 'unwanted';
    const { listed, wide, wideAdded } = namesOf(model);
    if (await hasTrigger(statements, listed, wideAdded)) {
      const [row] = await statements.query(
        `SELECT 1 FROM ${wide} WHERE label = ${labelHash('$1')} AND is_ready AND left_at IS NULL`,
        [label],
      );
      if (row !== undefined) return 'kept';
    }
    const [row = {}] = await statements.query(
      `SELECT count(*) AS rows FROM ${listed} WHERE label = ${labelHash('$1')}`,
      [label],
    );
    return numberOf(row, 'rows') >= rowsMin ? 'wanted' : 'unwanted';
  }

  /** Whoever was interrupted has left a table that is not ready. */
  async function make(model: CodedModel, label: string): Promise<void> {
    if ((await connections.alone((statements) => stateOf(statements, model.key, label))) !== 'wanted') return;
    const number = await connections.write((statements) => register(statements, model, label));
    await othersDone(model.key);
    await connections.write((statements) => dropUnregistered(statements, model.key));
    if (number === undefined) return;
    const table = tableOf(model.key, number);
    for (let after: number | undefined = 0; after !== undefined; ) {
      const from: number = after;
      after = await connections.write((statements) => fill(statements, { model, label, table, after: from }), {
        isLong: true,
      });
    }
    await othersDone(model.key);
    const { listed, wide } = namesOf(model.key);
    await connections.write((statements) => statements.query(removeUnlisted(table, listed), [label]), { isLong: true });
    await connections.alone((statements) => statements.query(`VACUUM (ANALYZE) ${table}`));
    await connections.write((statements) =>
      statements.query(`UPDATE ${wide} SET is_ready = true WHERE number = $1`, [number]),
    );
  }

  /** From here on the triggers keep it. The number of its table; undefined if it needs none, or there are enough of them. */
  async function register(statements: Connection, model: CodedModel, label: string): Promise<number | undefined> {
    const { listed, wide, wideAdded } = namesOf(model.key);
    if (!(await hasTrigger(statements, listed, wideAdded))) await statements.query(definition(model.key));
    await tidy(statements, model.key);
    const [row] = await statements.query(
      `INSERT INTO ${wide} AS w (label) SELECT ${labelHash('$1')} WHERE (SELECT count(*) FROM ${wide}) < ${tablesMax}
       ON CONFLICT (label) DO UPDATE SET left_at = NULL, used_at = now() RETURNING number, is_ready`,
      [label],
    );
    if (row === undefined || row['is_ready'] === true) return undefined;
    const number = numberOf(row, 'number');
    await statements.query(
      `CREATE TABLE ${tableOf(model.key, number)} (key bigint PRIMARY KEY, labels bigint NOT NULL,
         code bit(${3 * model.dimensions}) NOT NULL)`,
    );
    return number;
  }

  /** Forgets what nobody reads any more, and takes back what is not needed any more: somebody may be reading that. */
  async function tidy(statements: Connection, model: number): Promise<void> {
    const { wide } = namesOf(model);
    await statements.query(`DELETE FROM ${wide} WHERE NOT is_ready OR left_at < now() - ${leftBefore}`);
    await statements.query(
      `UPDATE ${wide} w SET left_at = now() WHERE left_at IS NULL AND (
         (SELECT reltuples BETWEEN 0 AND ${keptShare * rowsMin} FROM pg_class
          WHERE oid = to_regclass('${wide}_' || w.number))
         OR number = (SELECT number FROM ${wide} WHERE used_at < now() - ${usedWithin}
            AND (SELECT count(*) FROM ${wide}) >= ${tablesMax - 1} ORDER BY used_at LIMIT 1))`,
    );
  }

  /**
   * Waits until all have ended that write to the list now: they may not see yet what was committed just now, or it may not see what
   * they have written. A lock would keep the next ones waiting, too; and others, perhaps in other databases, may write for hours.
   */
  async function othersDone(model: number): Promise<void> {
    const writing = async () => {
      const rows = await connections.read((statements) => statements.query(writersOf, [namesOf(model).listed]));
      return rows.map((row) => textOf(row, 'id'));
    };
    let others = new Set(await writing());
    for (let waitMs = 5; others.size > 0; waitMs = Math.min(1_000, waitMs * 1.5)) {
      await delay(waitMs);
      const now = new Set(await writing());
      others = new Set([...others].filter((id) => now.has(id)));
    }
  }
}

/** Whoever writes to a table has such a lock on it before its triggers look for anything, until everybody sees what was written. */
const writersOf = `SELECT virtualtransaction AS id FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND relation = to_regclass($1)`;

/** What no trigger writes to any more. */
async function dropUnregistered(statements: Connection, model: number): Promise<void> {
  const { wide } = namesOf(model);
  const rows = await statements.query(
    `SELECT c.oid::regclass::text AS name FROM pg_class c WHERE ${isWideTable(model)}
       AND NOT EXISTS (SELECT 1 FROM ${wide} w WHERE to_regclass('${wide}_' || w.number) = c.oid)
       AND c.oid <> to_regclass('${wide}')`,
  );
  for (const row of rows) await statements.query(`DROP TABLE ${textOf(row, 'name')}`);
}

interface Filling {
  readonly model: CodedModel;
  readonly label: string;
  readonly table: string;
  readonly after: number;
}

/** From the vector after this one on; the last one, or undefined if there are no more. */
async function fill(statements: Connection, { model, label, table, after }: Filling): Promise<number | undefined> {
  const [row = {}] = await statements.query(
    `WITH next AS MATERIALIZED (SELECT key, labels, code FROM ${namesOf(model.key).listed}
       WHERE label = ${labelHash('$1')} AND key > $2 ORDER BY key LIMIT ${filledAtOnce}),
     filled AS (INSERT INTO ${table} SELECT * FROM next ON CONFLICT DO NOTHING)
     SELECT max(key) AS last FROM next`,
    [label, after],
  );
  return row['last'] === null ? undefined : numberOf(row, 'last');
}

function tableOf(model: number, number: number): string {
  return `${namesOf(model).wide}_${number}`;
}

function touch(model: number): string {
  return `UPDATE ${namesOf(model).wide} SET used_at = now()
    WHERE label = ${labelHash('$1')} AND used_at < now() - interval '1 hour'`;
}

/** Rows that others removed from the list while they were being copied. */
function removeUnlisted(table: string, listed: string): string {
  return `DELETE FROM ${table} w WHERE NOT EXISTS (
    SELECT 1 FROM ${listed} l WHERE l.label = ${labelHash('$1')} AND l.key = w.key)`;
}

/**
 * Rows are given other labels by a statement that removes and adds them; of the two triggers, either may be the first. So one is removed
 * only if it is not in the list any more, and added in place of what is there.
 */
function definition(model: number): string {
  const { listed, wide, wideAdded, wideRemoved } = namesOf(model);
  const added = `INSERT INTO ${wide}_%s SELECT key, labels, code FROM fresh WHERE label = %L::bigint
    ON CONFLICT (key) DO UPDATE SET labels = excluded.labels`;
  const removed = `DELETE FROM ${wide}_%s w USING former f WHERE w.key = f.key AND f.label = %2$L::bigint AND NOT EXISTS (
    SELECT 1 FROM ${listed} l WHERE l.key = f.key AND l.label = %2$L::bigint)`;
  return [
    // Whoever waits for a lock keeps others waiting, too.
    "SET LOCAL lock_timeout = '1s'",
    // A process of an earlier version may have made the list anew.
    wideRemoval(model),
    `CREATE TABLE ${wide} (label bigint PRIMARY KEY, number integer GENERATED ALWAYS AS IDENTITY,
       is_ready boolean NOT NULL DEFAULT false, used_at timestamptz NOT NULL DEFAULT now(), left_at timestamptz)`,
    eachTable(wideAdded, wide, 'fresh', added),
    eachTable(wideRemoved, wide, 'former', removed),
    trigger(wideAdded, `INSERT ON ${listed}`, 'NEW TABLE AS fresh'),
    trigger(wideRemoved, `DELETE ON ${listed}`, 'OLD TABLE AS former'),
  ].join(';\n');
}

function eachTable(name: string, wide: string, rows: string, statement: string): string {
  return `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE w record; BEGIN
    FOR w IN SELECT number, label FROM ${wide} WHERE label IN (SELECT label FROM ${rows}) LOOP
      EXECUTE format('${statement}', w.number, w.label);
    END LOOP; RETURN NULL; END $$`;
}
