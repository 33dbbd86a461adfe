import * as z from 'zod';
import { isObject } from '../../base/json.ts';
import { bounds, checkBound } from './bounds.ts';

/** A JSON object argument with all its keys: `z.record` drops `__proto__`. */
export const jsonObject = z.custom<Record<string, unknown>>(isObject, 'must be an object').meta({ type: 'object' });

/** Trimmed, lower-case, without duplicates or empty tags. */
export function normaliseTags(tags: readonly string[]): string[] {
  const normalised = [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== '');
  checkBound(bounds.tags, normalised.length);
  checkBound(bounds.tag, Math.max(...normalised.map((tag) => tag.length)));
  return normalised.sort((a, b) => (a < b ? -1 : 1));
}
