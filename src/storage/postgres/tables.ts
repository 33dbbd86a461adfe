import type { TableFacts } from '../backup/manifest.ts';
import { numberOf, type Row, textOf, textsOf } from '../rows.ts';
import type { Connection } from './transaction.ts';
import { codeTables } from './vector-codes.ts';

/** Tells where migration stands, and is written by whoever makes the schema; what is not kept for long is not backed up. */
const ownTables = ['schema_version', 'shared_parts'];

/** Our tables as they are now, each after those that it refers to. */
export async function readTables(statements: Connection): Promise<TableFacts[]> {
  const rows = await statements.query(tablesQuery);
  const referred = new Map(rows.map((row) => [textOf(row, 'name'), textsOf(row, 'refers_to')]));
  const byName = new Map(rows.map((row) => [textOf(row, 'name'), row]));
  const tables: TableFacts[] = [];
  for (const name of inOrder(referred)) {
    const row = byName.get(name);
    if (row === undefined || ownTables.includes(name) || codeTables.test(name)) continue;
    tables.push({
      name,
      rows: await countRows(statements, name),
      columns: textsOf(row, 'columns'),
      sequences: await readSequences(statements, name, textsOf(row, 'identities')),
    });
  }
  return tables;
}

/** Generated columns are computed again. */
const tablesQuery = `
  SELECT c.relname::text AS name,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND a.attgenerated = '' ORDER BY a.attnum) AS columns,
    ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attidentity <> '') AS identities,
    ARRAY(SELECT r.relname::text FROM pg_constraint f JOIN pg_class r ON r.oid = f.confrelid
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid) AS refers_to
  FROM pg_class c WHERE c.relnamespace = 'carrel'::regnamespace AND c.relkind = 'r' ORDER BY c.relname`;

async function countRows(statements: Connection, table: string): Promise<number> {
  const [row = {}] = await statements.query(`SELECT count(*) AS total FROM carrel.${table}`);
  return numberOf(row, 'total');
}

async function readSequences(
  statements: Connection,
  table: string,
  columns: readonly string[],
): Promise<Record<string, number>> {
  const sequences: Record<string, number> = {};
  for (const column of columns) {
    const [named = {}] = await statements.query('SELECT pg_get_serial_sequence($1, $2) AS sequence', [
      `carrel.${table}`,
      column,
    ]);
    // Not read within the snapshot, so it is at or past the largest number that the snapshot shows; 0 before the first.
    const [row = {}]: Row[] = await statements.query(
      `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${textOf(named, 'sequence')}`,
    );
    sequences[column] = numberOf(row, 'last');
  }
  return sequences;
}

function inOrder(referred: ReadonlyMap<string, readonly string[]>): string[] {
  const order = new Set<string>();
  const add = (name: string): void => {
    if (order.has(name)) return;
    for (const other of referred.get(name) ?? []) add(other);
    order.add(name);
  };
  for (const name of referred.keys()) add(name);
  return [...order];
}
