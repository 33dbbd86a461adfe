import * as z from 'zod';
import { isObject } from '../../base/json.ts';
import { bounds, checkBound } from './bounds.ts';

/** Schema of an object argument that keeps all keys. `z.record` would drop `__proto__`. */
export const jsonObject = z.custom<Record<string, unknown>>(isObject, 'must be an object').meta({ type: 'object' });

/** Trims, lower-cases and sorts tags, drops duplicates and empty ones, and checks the limits. */
export function normaliseTags(tags: readonly string[]): string[] {
  const normalised = [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== '');
  checkBound(bounds.tags, normalised.length);
  checkBound(bounds.tag, Math.max(...normalised.map((tag) => tag.length)));
  return normalised.sort((a, b) => (a < b ? -1 : 1));
}
