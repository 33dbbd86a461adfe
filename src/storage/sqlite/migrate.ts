import { CarrelError } from '../../base/errors.ts';
import { numberOf } from '../rows.ts';
import { checkSchema, nextStep, schemaAfter } from '../schema/schema-version.ts';
import { sqliteSchema } from '../schema/sqlite-schema.ts';
import { checkOwner, type Database } from './database.ts';
import { applicationId } from './sqlite-module.ts';

/** One migration step per schema version, as many as on PostgreSQL. Released steps never change. */
const migrations: readonly string[] = [sqliteSchema];

/** The SQL of all steps. */
export const currentSchema: string = migrations.join('\n');

/**
 * Migrates the database to the newest schema, with one transaction per step. If the process is killed, the next start continues
 * after the last complete step. Of several concurrent starts, only one performs a step.
 */
export async function migrate(database: Database, steps: readonly string[] = migrations): Promise<void> {
  checkEngine(database);
  checkOwner(database);
  const newest = schemaAfter(steps);
  while (checkSchema(schemaVersion(database), newest) < newest) {
    await database.transaction(async () => {
      // Read again under the lock, because another process may have performed this step meanwhile.
      const next = nextStep(steps, checkSchema(schemaVersion(database), newest));
      if (next === undefined) return;
      database.exec(`PRAGMA application_id = ${applicationId}`);
      database.exec(next.step);
      database.exec(`PRAGMA user_version = ${next.schema}`);
    });
  }
}

export function schemaVersion(database: Database): number {
  const row = database.get('PRAGMA user_version');
  return row === undefined ? 0 : numberOf(row, 'user_version');
}

/** Throws if SQLite has no FTS5, as in Node before 22.16. */
function checkEngine(database: Database): void {
  const row = database.get("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS used");
  if (row !== undefined && numberOf(row, 'used') === 1) return;
  throw new CarrelError(
    'invalid_config',
    `The SQLite in Node ${process.versions.node} has no full-text search. Use Node 22.16 or later.`,
  );
}
