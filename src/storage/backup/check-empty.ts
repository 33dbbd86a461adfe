import { CarrelError } from '../../base/errors.ts';
import { isFilledFromTheStart } from '../stores/words/word-analysis.ts';
import type { TableFacts } from './manifest.ts';

/** Refuses a database that is not empty. */
export function checkEmpty(tables: readonly TableFacts[]): void {
  const used = tables.filter(({ name, rows }) => rows > 0 && !isFilledFromTheStart(name) && !isChosen(name));
  if (used.length === 0) return;
  throw new CarrelError(
    'storage_not_empty',
    'The database is not empty, and the backup would replace its content. Back it up, then restore with --force.',
    { data: { tables: used.map(({ name }) => name) } },
  );
}

/** A server notes which model it uses when it starts, before there is anything to embed. */
function isChosen(name: string): boolean {
  return name.endsWith('_models');
}
