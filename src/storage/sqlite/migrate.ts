import { CarrelError } from '../../base/errors.ts';
import { numberOf } from '../rows.ts';
import { checkSchema, nextStep, schemaAfter } from '../schema/schema-version.ts';
import { sqliteSchema } from '../schema/sqlite-schema.ts';
import { checkOwner, type Database } from './database.ts';
import { applicationId } from './sqlite-module.ts';

/**
 * One step per schema version; the first creates the schema. PostgreSQL has the same number of steps. Released steps never
 * change. A change of the analysis (src/words) needs no step; see words/word-analysis.ts.
 */
const migrations: readonly string[] = [sqliteSchema];

/** The SQL of all steps. */
export const currentSchema: string = migrations.join('\n');

/**
 * Migrates the database to the newest schema, one transaction per step: a killed process leaves complete steps, and the next
 * one continues. Among concurrent starts, one performs a step and the others find it done.
 */
export async function migrate(database: Database, steps: readonly string[] = migrations): Promise<void> {
  checkEngine(database);
  checkOwner(database);
  const newest = schemaAfter(steps);
  while (checkSchema(schemaVersion(database), newest) < newest) {
    await database.transaction(async () => {
      // Read again under the lock, because another process may have been first.
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

/** Node before 22.16 was built without FTS5. */
function checkEngine(database: Database): void {
  const row = database.get("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS used");
  if (row !== undefined && numberOf(row, 'used') === 1) return;
  throw new CarrelError(
    'invalid_config',
    `The SQLite in Node ${process.versions.node} has no full-text search. Use Node 22.16 or later.`,
  );
}
