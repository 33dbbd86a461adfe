import type { MetadataCondition } from '../../src/storage/entries/entry.ts';

type Json = unknown;

/** Evaluates the sixteen metadata operators in plain TypeScript, without any of the program's own code. */
export function oracleMatches(metadata: Json, condition: MetadataCondition): boolean {
  const value = lookUp(metadata, condition.path);
  const isPresent = value !== undefined && value !== null;
  switch (condition.operator) {
    case 'exists':
    case 'is_not_null':
      return isPresent;
    case 'not_exists':
      return !isPresent;
    case 'is_null':
      return value === null;
    case 'eq':
      return isEqual(value, condition.value, condition.caseSensitive);
    case 'ne':
      return isPresent && !isEqual(value, condition.value, condition.caseSensitive);
    case 'in':
      return condition.value.some((each) => isEqual(value, each, condition.caseSensitive));
    case 'not_in':
      return isPresent && !condition.value.some((each) => isEqual(value, each, condition.caseSensitive));
    case 'array_contains':
      return Array.isArray(value) && value.some((each) => isEqual(each, condition.value, condition.caseSensitive));
    case 'contains':
      return [value].flat().some((each) => {
        return testText(each, condition.value, condition.caseSensitive, (text, part) => text.includes(part));
      });
    case 'starts_with':
      return testText(value, condition.value, condition.caseSensitive, (text, part) => text.startsWith(part));
    case 'ends_with':
      return testText(value, condition.value, condition.caseSensitive, (text, part) => text.endsWith(part));
    default:
      return compareValues(value, condition);
  }
}

function compareValues(
  value: Json,
  condition: { operator: 'gt' | 'gte' | 'lt' | 'lte'; value: string | number | bigint; caseSensitive: boolean },
): boolean {
  let order: number;
  const expected = condition.value;
  if (isNumber(value) && isNumber(expected)) order = compareNumbers(value, expected);
  else if (typeof value === 'string' && typeof condition.value === 'string') {
    order = compareCodePoints(
      normalizeCase(value, condition.caseSensitive),
      normalizeCase(condition.value, condition.caseSensitive),
    );
  } else return false;
  return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[condition.operator];
}

function lookUp(metadata: Json, path: readonly string[]): Json {
  let value: Json = metadata;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.entries(value).find(([name]) => name === key)?.[1];
  }
  return value;
}

function isEqual(left: Json, right: Json, caseSensitive: boolean): boolean {
  if (typeof left === 'string' && typeof right === 'string') {
    return normalizeCase(left, caseSensitive) === normalizeCase(right, caseSensitive);
  }
  if (isNumber(left) && isNumber(right)) return compareNumbers(left, right) === 0;
  return typeof left === typeof right && left === right && left !== null && typeof left !== 'object';
}

function isNumber(value: Json): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** Compares two numbers as integers if both are integers, otherwise as doubles. */
function compareNumbers(left: number | bigint, right: number | bigint): number {
  const areIntegers = [left, right].every((each) => typeof each === 'bigint' || Number.isInteger(each));
  if (!areIntegers) return Math.sign(Number(left) - Number(right));
  return Math.sign(Number(BigInt(left) - BigInt(right)));
}

function testText(
  value: Json,
  part: string,
  caseSensitive: boolean,
  test: (text: string, part: string) => boolean,
): boolean {
  return typeof value === 'string' && test(normalizeCase(value, caseSensitive), normalizeCase(part, caseSensitive));
}

function normalizeCase(text: string, caseSensitive: boolean): string {
  return caseSensitive ? text : text.toLowerCase().replaceAll('ς', 'σ');
}

function compareCodePoints(left: string, right: string): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index]?.codePointAt(0) ?? 0) - (b[index]?.codePointAt(0) ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}
