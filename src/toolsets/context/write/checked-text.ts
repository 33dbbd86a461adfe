import { CarrelError } from '../../../base/errors.ts';
import { storingFault } from '../../../storage/storable.ts';
import { type Bound, bounds, checkBound } from '../bounds.ts';

/** Refuses what no database keeps: what is stored must be what was sent. */
export function checkText(name: string, text: string): void {
  const why = storingFault(text);
  if (why !== undefined) throw fault(`${name.slice(0, 300)} ${why}`);
}

/**
 * The same for every text and key in JSON: PostgreSQL's own JSON has no NUL. Nor can a number beyond all doubles be kept, which
 * is infinite when it is parsed, and for which JSON has no form. SQLite reads no JSON beyond 1,000 levels.
 */
export function checkJson(name: string, value: unknown, valuesMax?: Bound): void {
  let values = 0;
  const visit = (path: string, at: unknown, level: number): void => {
    values += 1;
    if (level > bounds.levels.max) throw fault(`${name} has more than ${bounds.levels.max} ${bounds.levels.unit}`);
    if (typeof at === 'string') checkText(path, at);
    if (typeof at === 'number' && !Number.isFinite(at)) {
      throw fault(`${path} is a number beyond 1.8e308, which cannot be kept; send it as a text`);
    }
    if (Array.isArray(at)) for (const [index, each] of at.entries()) visit(`${path}[${index}]`, each, level + 1);
    else if (typeof at === 'object' && at !== null) {
      for (const [key, inner] of Object.entries(at)) {
        checkText(`A key in ${path}`, key);
        visit(`${path}.${shown(key)}`, inner, level + 1);
      }
    }
  };
  visit(name, value, 0);
  if (valuesMax !== undefined) checkBound(valuesMax, values, name);
}

/** A key of the caller's, as an error may repeat it. */
function shown(key: string): string {
  return key.replace(/[^\w.-]/g, '?').slice(0, 60);
}

function fault(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
