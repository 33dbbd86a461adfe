import { CarrelError } from '../../../base/errors.ts';
import { unstorableReason } from '../../../storage/storable.ts';
import { type Bound, bounds, checkBound } from '../inputs.ts';

/** Rejects text that a database would alter. */
export function checkText(name: string, text: string): void {
  const why = unstorableReason(text);
  if (why !== undefined) throw fault(`${name.slice(0, 300)} ${why}`);
}

/**
 * Checks a JSON value before it is stored. Strings and keys must pass `checkText`, because PostgreSQL's JSON has no
 * NUL. Numbers must fit a double, because JSON can't represent infinity. The depth is limited, because SQLite only
 * allows 1,000 levels.
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

/** Formats the caller's key for an error, shortened. */
function formatKey(key: string): string {
  return key.replace(/[^\w.-]/g, '?').slice(0, 60);
}

function fault(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
