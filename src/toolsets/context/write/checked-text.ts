import { CarrelError } from '../../../base/errors.ts';
import { storingFault } from '../../../storage/storable.ts';
import { type Bound, bounds, checkBound } from '../bounds.ts';

/** Rejects text that a database would alter. */
export function checkText(name: string, text: string): void {
  const why = storingFault(text);
  if (why !== undefined) throw fault(`${name.slice(0, 300)} ${why}`);
}

/**
 * Does the same for all strings and keys in JSON, because PostgreSQL's JSON has no NUL. Also rejects numbers beyond
 * double range, which JSON can't represent, and more than SQLite's 1,000 levels.
 */
export function checkJson(name: string, value: unknown, valuesMax?: Bound): void {
  let values = 0;
  const visit = (path: string, at: unknown, level: number): void => {
    values += 1;
    if (level > bounds.levels.max) throw fault(`${name} has more than ${bounds.levels.max} ${bounds.levels.unit}`);
    if (typeof at === 'string') checkText(path, at);
    if (typeof at === 'number' && !Number.isFinite(at)) {
      throw fault(`${path} exceeds 1.8e308 and cannot be stored; send it as text`);
    }
    if (Array.isArray(at)) for (const [index, each] of at.entries()) visit(`${path}[${index}]`, each, level + 1);
    else if (typeof at === 'object' && at !== null) {
      for (const [key, inner] of Object.entries(at)) {
        checkText(`A key in ${path}`, key);
        visit(`${path}.${formatKey(key)}`, inner, level + 1);
      }
    }
  };
  visit(name, value, 0);
  if (valuesMax !== undefined) checkBound(valuesMax, values, name);
}

/** The caller's key, shortened for an error. */
function formatKey(key: string): string {
  return key.replace(/[^\w.-]/g, '?').slice(0, 60);
}

function fault(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
