import { CarrelError } from '../../../base/errors.ts';
import { unstorableReason } from '../../../storage/storable.ts';
import { type Bound, bounds, checkBound } from '../inputs.ts';

/** Rejects text that a database would alter. */
export function checkText(name: string, text: string): void {
  const reason = unstorableReason(text);
  if (reason !== undefined) throw invalid(`${name.slice(0, 300)} ${reason}`);
}

/**
 * Checks a JSON value before it is stored. Strings and keys must pass `checkText`, because PostgreSQL's JSON has no
 * NUL. Numbers must fit a double, because JSON can't represent infinity. The depth is limited, because SQLite only
 * allows 1,000 levels.
 */
export function checkJson(name: string, value: unknown, valuesMax?: Bound): void {
  let values = 0;
  const visit = (path: string, node: unknown, level: number): void => {
    values += 1;
    if (level > bounds.levels.max) throw invalid(`${name} has more than ${bounds.levels.max} ${bounds.levels.unit}`);
    if (typeof node === 'string') checkText(path, node);
    if (typeof node === 'number' && !Number.isFinite(node)) {
      throw invalid(`${path} exceeds 1.8e308 and cannot be stored; send it as text`);
    }
    if (Array.isArray(node)) for (const [index, item] of node.entries()) visit(`${path}[${index}]`, item, level + 1);
    else if (typeof node === 'object' && node !== null) {
      for (const [key, child] of Object.entries(node)) {
        checkText(`A key in ${path}`, key);
        visit(`${path}.${formatKey(key)}`, child, level + 1);
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

function invalid(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
