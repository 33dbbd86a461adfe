import { CarrelError } from '../../base/errors.ts';
import { numberOf } from '../rows.ts';
import { checkSchema } from '../schema-version.ts';
import { checkOwner, type Database } from './database.ts';
import { migrations } from './migrations.ts';
import { applicationId } from './sqlite-module.ts';

/**
 * Brings the database to the newest schema, one transaction per step: a process that is killed leaves whole steps behind,
 * and the next one goes on. Of several processes that start at once, one performs a step and the others find it done.
 */
export async function migrate(database: Database, steps: readonly string[] = migrations): Promise<void> {
  checkEngine(database);
  checkOwner(database);
  while (checkSchema(schemaVersion(database), steps.length) < steps.length) {
    await database.transaction(async () => {
      // Read again under the lock, because another process may have been first.
      const version = checkSchema(schemaVersion(database), steps.length);
      const step = steps[version];
      if (step === undefined) return;
      database.exec(`PRAGMA application_id = ${applicationId}`);
      database.exec(step);
      database.exec(`PRAGMA user_version = ${version + 1}`);
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
    `The SQLite of Node ${process.versions.node} has no full-text search. Use Node 22.16 or later.`,
  );
}
