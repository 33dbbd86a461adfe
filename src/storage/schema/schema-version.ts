import { CarrelError } from '../../base/errors.ts';

/** Development versions of this program used the numbers below it. A new database has 0. */
const firstSchema = 8;

/** Of both databases: each has a list of steps that leads to it. */
export const newestSchema = 8;

/** The schema that a list of steps leads to; the first one makes `firstSchema`. */
export function schemaAfter(steps: readonly string[]): number {
  return firstSchema + steps.length - 1;
}

/** The step that comes next, and the schema that it makes. */
export function nextStep(steps: readonly string[], version: number): { step: string; schema: number } | undefined {
  const done = Math.max(version, firstSchema - 1);
  const step = steps[done - firstSchema + 1];
  return step === undefined ? undefined : { step, schema: done + 1 };
}

/** Refuses a schema of another version of this program that we can't bring up to date; otherwise returns the version. */
export function checkSchema(version: number, newest: number): number {
  if (version > newest) {
    throw new CarrelError(
      'storage_newer',
      `The database has schema ${version}, written by a newer Carrel; this one knows up to ${newest}. ` +
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
    `The ${what} has schema ${schema} of a Carrel before the first release: run \`carrel export\` with the program that ` +
      'made it, then `carrel import` with this one into a new database.',
    { data: { schema, schemaMin: firstSchema } },
  );
}
