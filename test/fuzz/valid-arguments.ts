import type { Random } from './random.ts';

export type Schema = Record<string, unknown>;

const words = [
  'harbour',
  'lamp',
  'horn',
  'Straße',
  'the',
  '漢字',
  'store',
  'memory',
  'a b c',
  'x-y',
  '2024',
  'alpha beta gamma',
];

/** A value that a schema allows, by a simple reading of it. */
export function validValue(schema: unknown, random: Random, depth = 0): unknown {
  const { type, properties, items, anyOf, oneOf, const: fixed, enum: choices } = Object(schema) as Schema;
  if (fixed !== undefined) return fixed;
  if (Array.isArray(choices)) return random.pick(choices);
  const alternatives = anyOf ?? oneOf;
  if (Array.isArray(alternatives)) return validValue(random.pick(alternatives), random, depth);
  const kind = Array.isArray(type) ? random.pick(type) : type;
  if (kind === 'object') return depth > 6 ? {} : validObject(Object(properties), Object(schema), random, depth);
  if (kind === 'array') {
    return Array.from({ length: depth > 6 ? 0 : random.below(4) }, () => validValue(items ?? {}, random, depth + 1));
  }
  if (kind === 'boolean') return random.chance(0.5);
  if (kind === 'integer' || kind === 'number') return validNumber(Object(schema), random);
  if (kind === 'null') return null;
  return random.chance(0.2) ? `${random.pick(words)} ${random.pick(words)}` : random.pick(words);
}

function validObject(properties: Schema, { required }: Schema, random: Random, depth: number): Schema {
  const needed = new Set(Array.isArray(required) ? required : []);
  const chosen = Object.entries(properties).filter(([name]) => needed.has(name) || random.chance(0.3));
  return Object.fromEntries(chosen.map(([name, schema]) => [name, validValue(schema, random, depth + 1)]));
}

function validNumber({ minimum, maximum }: Schema, random: Random): number {
  const low = typeof minimum === 'number' ? minimum : 0;
  const high = typeof maximum === 'number' ? Math.min(maximum, low + 1000) : low + 50;
  return low + random.below(Math.max(1, high - low + 1));
}
