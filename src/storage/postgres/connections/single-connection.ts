import type { Client } from 'pg';
import type { Row } from '../../rows.ts';
import type { PostgresConfig } from './connections.ts';
import { createServers } from './servers.ts';
import { storageError } from './storage-error.ts';
import { type Connection, endedWithClient } from './transaction.ts';

/** Opens a connection outside the pool, without its timeouts, for backups and restores. */
export async function connectAlone(config: PostgresConfig): Promise<Client> {
  const servers = createServers(config.url);
  try {
    return await servers.connect(async () => {
      const client = servers.client({ connectionTimeoutMillis: config.connectTimeoutMs ?? 5_000 });
      await client.connect();
      return client;
    });
  } catch (error) {
    throw storageError(error);
  }
}

/** Lifts all timeouts for one transaction, including those set on the server. */
export const unbounded = `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; ${endedWithClient}`;

export function statementsOf(client: Client): Connection {
  return { query: async (text, values = []) => (await client.query<Row>({ text, values: [...values] })).rows };
}
