import type { StorageDescription } from '../contracts/storage.ts';
import { numberOf, type Statements, textOf } from '../statements.ts';

export async function describe(on: Statements): Promise<StorageDescription> {
  const [row = {}] = await on.query(
    `SELECT sqlite_version() AS version, v.user_version AS schema, c.page_count * s.page_size AS bytes
     FROM pragma_user_version v, pragma_page_count c, pragma_page_size s`,
  );
  return {
    backend: 'sqlite',
    version: textOf(row, 'version'),
    schema: numberOf(row, 'schema'),
    bytes: numberOf(row, 'bytes'),
  };
}
