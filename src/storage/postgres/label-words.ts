import { numberOf } from '../rows.ts';
import type { Connections } from './connections.ts';
import { labelledWords } from './schema/word-index-schema.ts';
import type { Connection } from './transaction.ts';
import { inTurn } from './turns.ts';

const { table, index, columns, former } = labelledWords;

/** Rows that are changed at once; meanwhile nobody can change these passages. */
const labelledAtOnce = 2_000;

/** What earlier versions of rows took is free again after so many. */
const cleanedEvery = 50 * labelledAtOnce;

/** The last key of those that follow. */
const next = `SELECT max(key) AS last FROM (SELECT key FROM ${table} WHERE key > $1 ORDER BY key LIMIT ${labelledAtOnce}) s`;

/**
 * Of all up to that one, however many they are by now: others may have added some in between. Whoever changes labels has the
 * passage first, and then its words.
 */
const label = `WITH locked AS MATERIALIZED (
    SELECT key, labels FROM carrel.kb_passages WHERE key IN (SELECT key FROM ${table} WHERE key > $1 AND key <= $2) ORDER BY key FOR SHARE)
  UPDATE ${table} w SET labels = locked.labels FROM locked WHERE w.key = locked.key AND w.labels IS NULL`;

/** All at once, where nobody else is at it. */
export const labelRest = `UPDATE ${table} w SET labels = p.labels FROM carrel.kb_passages p WHERE p.key = w.key AND w.labels IS NULL`;

/**
 * Gives the words of a database that is older than their labels these labels, and the index that tells both, while others read and
 * write. Goes on where somebody was interrupted.
 */
export async function labelWords(connections: Connections): Promise<void> {
  const isSo = async (condition: string) =>
    (await connections.read((statements) => statements.query(`SELECT 1 WHERE ${condition}`))).length > 0;
  if (await isSo(`${isLabelled} AND to_regclass('carrel.${former}') IS NULL`)) return;
  await inTurn(connections, `carrel.${index}`, async () => {
    if (!(await isSo(isLabelled))) await labelAll(connections);
    await connections.alone((statements) => statements.query(`DROP INDEX CONCURRENTLY IF EXISTS carrel.${former}`));
  });
}

async function labelAll(connections: Connections): Promise<void> {
  let uncleaned = 0;
  for (let last: number | undefined = 0; last !== undefined; ) {
    const after: number = last;
    last = await connections.write((statements) => labelSome(statements, after), { isLong: true });
    uncleaned += labelledAtOnce;
    if (uncleaned < cleanedEvery) continue;
    uncleaned = 0;
    await connections.alone((statements) => statements.query(`VACUUM ${table}`));
  }
  await connections.alone(makeIndex);
}

/** Of the words from the one after this on; the last one, or undefined if there are no more. */
async function labelSome(statements: Connection, after: number): Promise<number | undefined> {
  const [row = {}] = await statements.query(next, [after]);
  if (row['last'] === null) return undefined;
  const last = numberOf(row, 'last');
  await statements.query(label, [after, last]);
  return last;
}

/** One that is not valid was left by somebody who was interrupted. */
async function makeIndex(statements: Connection): Promise<void> {
  await statements.query(`DROP INDEX CONCURRENTLY IF EXISTS carrel.${index}`);
  await statements.query(`VACUUM ${table}`);
  await statements.query("SELECT set_config('maintenance_work_mem', '256MB', false)");
  try {
    await statements.query(`CREATE INDEX CONCURRENTLY ${index} ON ${table} USING gin (${columns})`);
  } finally {
    await statements.query('RESET maintenance_work_mem');
  }
}

/** Of what a transaction sees: whoever sees the index sees the labels. */
export const isLabelled = `EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('carrel.${index}') AND indisvalid)`;
