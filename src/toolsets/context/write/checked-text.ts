import { CarrelError } from '../../../base/errors.ts';
import { unstorablePart } from '../../../storage/storable.ts';
import { type Bound, checkBound } from '../bounds.ts';

/** Refuses what no database keeps: what is stored must be what was sent. */
export function checkText(name: string, text: string): void {
  const part = unstorablePart(text);
  if (part !== undefined) throw fault(`${name} has ${part}, which cannot be stored; leave it out`);
}

/**
 * The same for JSON, where NUL can be kept: as its escape. Half of a surrogate pair cannot, because other JSON parsers reject
 * its escape; nor can a number beyond all doubles, which is infinite when it is parsed, and for which JSON has no form.
 */
export function checkJson(name: string, value: unknown, valuesMax?: Bound): void {
  let values = 0;
  const visit = (path: string, at: unknown): void => {
    values += 1;
    if (typeof at === 'string' && !at.isWellFormed()) throw halfPair(path);
    if (typeof at === 'number' && !Number.isFinite(at)) {
      throw fault(`${path} is a number beyond 1.8e308, which cannot be kept; send it as a text`);
    }
    if (Array.isArray(at)) for (const [index, each] of at.entries()) visit(`${path}[${index}]`, each);
    else if (typeof at === 'object' && at !== null) {
      for (const [key, inner] of Object.entries(at)) {
        if (!key.isWellFormed()) throw halfPair(`A key in ${path}`);
        visit(`${path}.${shown(key)}`, inner);
      }
    }
  };
  visit(name, value);
  if (valuesMax !== undefined) checkBound(valuesMax, values, name);
}

/** A key of the caller's, as an error may repeat it. */
function shown(key: string): string {
  return key.replace(/[^\w.-]/g, '?').slice(0, 60);
}

function halfPair(path: string): CarrelError {
  return fault(
    `${path.slice(0, 300)} has half of a surrogate pair (U+D800 to U+DFFF), which cannot be stored; leave it out`,
  );
}

function fault(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
