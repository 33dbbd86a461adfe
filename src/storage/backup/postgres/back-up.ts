import type { Client } from 'pg';
import { to } from 'pg-copy-streams';
import type { PostgresConfig } from '../../postgres/connections/connections.ts';
import { connectAlone } from '../../postgres/connections/servers.ts';
import { storageError } from '../../postgres/connections/storage-error.ts';
import { type Connection, noTimeouts } from '../../postgres/connections/transaction.ts';
import { findSchemaVersion } from '../../postgres/migrate.ts';
import { partsOf } from '../../postgres/originals.ts';
import { withQuestionMarks } from '../../postgres/postgres-storage.ts';
import { numberOf, textOf } from '../../rows.ts';
import { checkSchema, newestSchema } from '../../schema/schema-version.ts';
import { columnKinds, columnNames, identityOf, type Table } from '../../schema/table.ts';
import { tables } from '../../schema/tables.ts';
import type { ArchiveMember } from '../archive.ts';
import { noData, type TableInfo } from '../manifest.ts';
import { originalName } from '../originals.ts';
import type { StoredRow } from '../rows.ts';
import type { BackupSource } from '../transfer.ts';
import { copyRows } from './copy-text.ts';

/** Opens a snapshot of the database for a backup. */
export async function openPostgresSource(config: PostgresConfig): Promise<BackupSource> {
  const { client, statements } = await connectAlone(config).catch((error) => Promise.reject(storageError(error)));
  try {
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${noTimeouts}`);
    if (checkSchema((await findSchemaVersion(statements)) ?? 0, newestSchema) !== newestSchema) throw noData();
    const [row = {}] = await statements.query(`SELECT count(*) AS count ${accepted}`);
    return {
      tables: await readTableInfo(statements),
      files: numberOf(row, 'count'),
      warnings: [],
      rows: (table) => rowsOf(client, table),
      originals: () => originals(statements),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw storageError(error);
  }
}

/** Returns a table and its columns, as COPY expects them. */
export function copyTarget(table: Table): string {
  return `carrel.${table.name} (${columnNames(table).join(', ')})`;
}

export function rowsOf(client: Client, table: Table): AsyncIterable<StoredRow> {
  return copyRows(client.query(to(`COPY ${copyTarget(table)} TO STDOUT`)), columnKinds(table));
}

export async function readTableInfo(statements: Connection): Promise<TableInfo[]> {
  const info: TableInfo[] = [];
  for (const table of tables) {
    const { name } = table;
    const [row = {}] = await statements.query(`SELECT count(*) AS rows FROM carrel.${name}`);
    const identity = identityOf(table);
    info.push({
      name,
      rows: numberOf(row, 'rows'),
      columns: columnNames(table),
      ...(identity === undefined ? {} : { last: await lastNumber(statements, name, identity) }),
    });
  }
  return info;
}

/** Returns the last generated number, or 0. It may exceed every number in the snapshot, because snapshots exclude sequences. */
async function lastNumber(statements: Connection, table: string, column: string): Promise<number> {
  const [row = {}] = await statements.query(
    `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM carrel.${table}_${column}_seq`,
  );
  return numberOf(row, 'last');
}

/** SQL for originals that were accepted. Staged ones have no hash yet. */
const accepted = 'FROM carrel.kb_originals WHERE hash IS NOT NULL';

async function* originals(statements: Connection): AsyncGenerator<ArchiveMember> {
  for (const row of await statements.query(`SELECT key, hash, bytes ${accepted} ORDER BY hash`)) {
    const content = partsOf(withQuestionMarks(statements).query, numberOf(row, 'key'));
    yield { name: originalName(textOf(row, 'hash')), size: numberOf(row, 'bytes'), content };
  }
}
