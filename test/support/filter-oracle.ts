import type { MetadataCondition } from '../../src/storage/entries/entry.ts';

type Json = unknown;

/** Evaluates the sixteen metadata operators in plain TypeScript, without any of the program's own code. */
export function oracleMatches(metadata: Json, condition: MetadataCondition): boolean {
  const value = lookUp(metadata, condition.path);
  const present = value !== undefined && value !== null;
  switch (condition.operator) {
    case 'exists':
    case 'is_not_null':
      return present;
    case 'not_exists':
      return !present;
    case 'is_null':
      return value === null;
    case 'eq':
      return same(value, condition.value, condition.caseSensitive);
    case 'ne':
      return present && !same(value, condition.value, condition.caseSensitive);
    case 'in':
      return condition.value.some((each) => same(value, each, condition.caseSensitive));
    case 'not_in':
      return present && !condition.value.some((each) => same(value, each, condition.caseSensitive));
    case 'array_contains':
      return Array.isArray(value) && value.some((each) => same(each, condition.value, condition.caseSensitive));
    case 'contains':
      return [value].flat().some((each) => {
        return onText(each, condition.value, condition.caseSensitive, (text, part) => text.includes(part));
      });
    case 'starts_with':
      return onText(value, condition.value, condition.caseSensitive, (text, part) => text.startsWith(part));
    case 'ends_with':
      return onText(value, condition.value, condition.caseSensitive, (text, part) => text.endsWith(part));
    default:
      return ordered(value, condition);
  }
}

function ordered(
  value: Json,
  condition: { operator: 'gt' | 'gte' | 'lt' | 'lte'; value: string | number | bigint; caseSensitive: boolean },
): boolean {
  let order: number;
  const wanted = condition.value;
  if (isNumber(value) && isNumber(wanted)) order = byFraction(value, wanted);
  else if (typeof value === 'string' && typeof condition.value === 'string') {
    order = byCodePoint(cased(value, condition.caseSensitive), cased(condition.value, condition.caseSensitive));
  } else return false;
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[condition.operator];
}

function lookUp(metadata: Json, path: readonly string[]): Json {
  let at: Json = metadata;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return undefined;
    at = Object.entries(at).find(([name]) => name === key)?.[1];
  }
  return at;
}

function same(left: Json, right: Json, caseSensitive: boolean): boolean {
  if (typeof left === 'string' && typeof right === 'string') {
    return cased(left, caseSensitive) === cased(right, caseSensitive);
  }
  if (isNumber(left) && isNumber(right)) return byFraction(left, right) === 0;
  return typeof left === typeof right && left === right && left !== null && typeof left !== 'object';
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Compares two numbers as integers if both are integers, otherwise as doubles. */
function byFraction(left: number | bigint, right: number | bigint): number {
  const isWhole = [left, right].every((each) => typeof each === 'bigint' || Number.isInteger(each));
  if (!isWhole) return Math.sign(Number(left) - Number(right));
  const difference = BigInt(left) - BigInt(right);
  return difference > 0n ? 1 : difference < 0n ? -1 : 0;
}

function onText(
  value: Json,
  part: string,
  caseSensitive: boolean,
  test: (text: string, part: string) => boolean,
): boolean {
  return typeof value === 'string' && test(cased(value, caseSensitive), cased(part, caseSensitive));
}

function cased(text: string, caseSensitive: boolean): string {
  return caseSensitive ? text : text.toLowerCase().replaceAll('ς', 'σ');
}

function byCodePoint(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}
