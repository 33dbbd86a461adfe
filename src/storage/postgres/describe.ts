import type { StorageDescription } from '../contracts/storage.ts';
import { numberOf, type Statements, textOf } from '../statements.ts';
import { schemaVersion } from './migrate.ts';

export async function describe(on: Statements): Promise<StorageDescription> {
  const [row = {}] = await on.query(
    `SELECT current_setting('server_version') AS version,
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
        WHERE c.relnamespace = 'carrel'::regnamespace AND c.relkind = 'r') AS bytes`,
  );
  return {
    backend: 'postgres',
    version: textOf(row, 'version'),
    schema: await schemaVersion(on),
    bytes: numberOf(row, 'bytes'),
  };
}
