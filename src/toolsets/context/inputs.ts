import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { storable } from '../../storage/storable.ts';

/** An argument that is a JSON object, with all its keys: `z.record` drops a key named __proto__. */
export const jsonObject = z.custom<Record<string, unknown>>(isObject, 'must be an object').meta({ type: 'object' });

const tagsMax = 100;
const tagCharsMax = 256;

/** Trimmed, in lower case, without duplicates and empty ones. */
export function normaliseTags(tags: readonly string[]): string[] {
  const normalised = [...new Set(tags.map((tag) => storable(tag).trim().toLowerCase()))].filter((tag) => tag !== '');
  if (normalised.length > tagsMax) throw fault(`tags must have at most ${tagsMax} different items`);
  if (normalised.some((tag) => tag.length > tagCharsMax)) throw fault(`A tag may have ${tagCharsMax} characters`);
  return normalised.sort((a, b) => (a < b ? -1 : 1));
}

function fault(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
