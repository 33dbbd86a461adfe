import { textOf } from '../rows.ts';
import type { Connection } from './transaction.ts';

/** In the transaction that fills the tables; the server's own is made for small machines. */
const memory = "SET LOCAL maintenance_work_mem = '256MB'";

/**
 * Fills tables without their indexes, but for those that constraints have, and makes them afterwards: of all rows at once this
 * takes a fraction of the time.
 */
export async function withoutIndexes(statements: Connection, fill: () => Promise<void>): Promise<void> {
  const indexes = await statements.query(
    `SELECT c.oid::regclass::text AS name, pg_get_indexdef(c.oid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = 'carrel'::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = c.oid)`,
  );
  for (const index of indexes) await statements.query(`DROP INDEX ${textOf(index, 'name')}`);
  await fill();
  await statements.query(memory);
  for (const index of indexes) await statements.query(textOf(index, 'definition'));
}
