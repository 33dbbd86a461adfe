import type { Database } from './database.ts';
import { currentSchema } from './migrate.ts';
import { loadSqlite } from './sqlite-module.ts';

interface SchemaObject {
  readonly name: string;
  /** Type, name and definition. An object of Carrel with a changed definition counts as foreign. */
  readonly identity: string;
}

/** Returns triggers, views, tables and indexes that are not in Carrel's schema, such as `trigger on_note`. */
export function foreignObjects(database: Pick<Database, 'all'>): string[] {
  const expected = ownObjects();
  return objectsIn(database)
    .filter(({ identity }) => !expected.has(identity))
    .map(({ name }) => name);
}

function ownObjects(): Set<string> {
  const fresh = new (loadSqlite().DatabaseSync)(':memory:');
  try {
    fresh.exec(currentSchema);
    const all = (sql: string) => fresh.prepare(sql).all();
    return new Set(objectsIn({ all }).map(({ identity }) => identity));
  } finally {
    fresh.close();
  }
}

/** Lists the objects of a database, without SQLite's own tables and indexes such as `sqlite_sequence`. */
function objectsIn({ all }: Pick<Database, 'all'>): SchemaObject[] {
  return all('SELECT type, name, sql FROM sqlite_schema ORDER BY type, name')
    .filter(({ type, name }) => type === 'trigger' || type === 'view' || !String(name).startsWith('sqlite_'))
    .map(({ type, name, sql }) => ({ name: `${type} ${name}`, identity: JSON.stringify([type, name, sql]) }));
}
