import { CarrelError } from '../../base/errors.ts';

/** Development versions used lower numbers. A new database has 0. */
const firstSchema = 9;

/** The schema version after all migration steps, the same for SQLite and PostgreSQL. */
export const newestSchema = 9;

/** Returns the schema version after these migration steps. The first step creates `firstSchema`. */
export function schemaAfter(steps: readonly string[]): number {
  return firstSchema + steps.length - 1;
}

/** Returns the next migration step and the schema version that it leads to. Undefined if all steps are done. */
export function nextStep(steps: readonly string[], version: number): { step: string; schema: number } | undefined {
  const current = Math.max(version, firstSchema - 1);
  const step = steps[current - firstSchema + 1];
  return step === undefined ? undefined : { step, schema: current + 1 };
}

/** Returns the schema version, or throws if this program cannot use or migrate it. */
export function checkSchema(version: number, newest: number): number {
  if (version > newest) {
    throw new CarrelError(
      'storage_newer',
      `The database has schema ${version}, written by a newer Carrel. This version supports up to ${newest}. ` +
        'Upgrade Carrel, or choose another database.',
      { data: { schema: version, schemaMax: newest } },
    );
  }
  if (version > 0 && version < firstSchema) throw olderThanFirst('database', version);
  return version;
}

export function olderThanFirst(what: 'database' | 'backup', schema: number): CarrelError {
  return new CarrelError(
    'storage_older',
    `The ${what} has schema ${schema}, from before the first release. Run \`carrel export\` with the version that made ` +
      'it, then `carrel import` with this version into a new database.',
    { data: { schema, schemaMin: firstSchema } },
  );
}
