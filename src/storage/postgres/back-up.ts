import type { Client } from 'pg';
import { CarrelError } from '../../base/errors.ts';
import type { ArchiveMember } from '../backup/archive.ts';
import type { BackupSource, ProgressReport } from '../backup/backup-source.ts';
import type { TableFacts } from '../backup/manifest.ts';
import type { Row } from '../rows.ts';
import { checkSchema } from '../schema-version.ts';
import type { PostgresConfig } from './connections.ts';
import { copyOut } from './copy.ts';
import { schemaVersion } from './migrate.ts';
import { migrations } from './migrations.ts';
import { connectToAny, createServers } from './servers.ts';
import { storageError } from './storage-error.ts';
import { readTables } from './tables.ts';
import { type Connection, endedWithClient } from './transaction.ts';

/** Lines are collected into members of about this size; a longer line gets its own. */
const partBytes = 4 * 1024 * 1024;

/** One state of the database, as the lines of COPY: the one form that every version of PostgreSQL reads. */
export async function openPostgresSource(config: PostgresConfig, onProgress: ProgressReport): Promise<BackupSource> {
  const client = await connectAlone(config);
  try {
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${unbounded}`);
    const statements = statementsOf(client);
    const [known] = await statements.query("SELECT to_regclass('carrel.schema_version') IS NOT NULL AS known");
    if (known?.['known'] !== true) {
      throw new CarrelError('invalid_config', 'The PostgreSQL database contains no Carrel data. Check its address.');
    }
    const schema = checkSchema(await schemaVersion(statements), migrations.length);
    const tables = await readTables(statements);
    return {
      schema,
      tables,
      files: 0,
      warnings: [],
      members: () => members(client, tables, onProgress),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw storageError(error);
  }
}

/** For a transaction that takes as long as it takes, whatever the server's own settings are. */
export const unbounded = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; ${endedWithClient}`;

/** A connection beside the pool, without the bounds that answering calls needs. */
export async function connectAlone(config: PostgresConfig): Promise<Client> {
  const servers = createServers(config.url);
  try {
    return await connectToAny(servers, async () => {
      const client = servers.client({
        connectionTimeoutMillis: config.connectTimeoutMs ?? 5000,
        application_name: 'carrel',
        keepAlive: true,
        keepAliveInitialDelayMillis: 10_000,
      });
      await client.connect();
      return client;
    });
  } catch (error) {
    throw storageError(error);
  }
}

export function statementsOf(client: Client): Connection {
  return { query: async (text, values = []) => (await client.query<Row>({ text, values: [...values] })).rows };
}

export function columnList({ columns = [] }: TableFacts): string {
  return columns.map((column) => `"${column}"`).join(', ');
}

/** Of the table, and the number of the part. */
function partName(table: string, part: number): string {
  return `tables/${table}/${String(part).padStart(6, '0')}`;
}

async function* members(
  client: Client,
  tables: readonly TableFacts[],
  onProgress: ProgressReport,
): AsyncGenerator<ArchiveMember> {
  const total = tables.length;
  for (const [index, table] of tables.entries()) {
    onProgress('writing', index, total);
    let part = 0;
    for await (const content of parts(copyOut(client, `COPY carrel.${table.name} (${columnList(table)}) TO STDOUT`))) {
      part += 1;
      yield { name: partName(table.name, part), size: content.length, content: [content] };
    }
  }
  onProgress('writing', total, total);
}

async function* parts(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let bytes = 0;
  for await (const line of lines) {
    gathered.push(line);
    bytes += line.length;
    if (bytes < partBytes) continue;
    yield Buffer.concat(gathered, bytes);
    gathered = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(gathered, bytes);
}
