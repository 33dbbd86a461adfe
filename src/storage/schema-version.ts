import { CarrelError } from '../base/errors.ts';

/** Refuses a schema of a later version of this program; otherwise returns the version. */
export function checkSchema(version: number, newest: number): number {
  if (version <= newest) return version;
  throw new CarrelError(
    'storage_newer',
    `The database has schema ${version}, written by a newer Carrel; this one knows up to ${newest}. ` +
      'Upgrade Carrel, or choose another database.',
    { data: { schema: version, schemaMax: newest } },
  );
}
