import { isObject, parseJson } from '../../base/json.ts';

/**
 * Reads JSON whose shape is only partly known: what is there and has the right type is used, and the rest is treated as
 * missing.
 */
export type Loose = Readonly<Record<string, unknown>>;

export function looseText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Numbers may come as text. */
export function looseNumber(value: unknown): number | null {
  if (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value)) return Number(value);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function looseId(value: unknown): number | null {
  const id = looseNumber(value);
  return id !== null && Number.isSafeInteger(id) && id >= 0 ? id : null;
}

/** A bare array, or the first array in an envelope under one of these names. */
export function looseList(value: unknown, names: readonly string[]): Loose[] | undefined {
  const found = Array.isArray(value) ? value : isObject(value) ? listIn(value, names) : undefined;
  return found?.filter(isObject);
}

function listIn(envelope: Loose, names: readonly string[]): unknown[] | undefined {
  return [...names, 'items', 'results', 'data'].map((name) => envelope[name]).find((each) => Array.isArray(each));
}

/** An object, or one that was sent as JSON text. */
export function looseObject(value: unknown): Loose {
  if (isObject(value)) return value;
  const parsed = typeof value === 'string' ? parseJson(value) : undefined;
  return isObject(parsed) ? parsed : {};
}

/** Tags as an array, as JSON text, or separated by commas. */
export function looseTags(value: unknown): string[] {
  const given = typeof value === 'string' ? (parseJson(value) ?? value.split(',')) : value;
  if (!Array.isArray(given)) return [];
  const tags = given.filter((tag) => typeof tag === 'string').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ''))];
}
