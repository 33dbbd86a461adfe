import { type MetadataCondition, operators, type Scalar } from '../../../storage/entries/entry.ts';
import { type Bound, bounds, limitMessage } from '../inputs.ts';

/**
 * Parses filters like mcp-context-server: `metadata` tests for equality, `metadata_filters` have operators. `faults` has a
 * sentence for each invalid filter.
 */
export function parseMetadataFilters(
  simple: Readonly<Record<string, unknown>> | undefined,
  advanced: readonly Readonly<Record<string, unknown>>[] | undefined,
): { conditions: readonly MetadataCondition[]; faults: readonly string[] } {
  const conditions: MetadataCondition[] = [];
  const faults: string[] = [];
  const add = (filter: unknown, parse: () => MetadataCondition): void => {
    try {
      conditions.push(parse());
    } catch (error) {
      if (!(error instanceof FilterFault)) throw error;
      faults.push(`Invalid metadata filter ${formatValue(filter)}: ${error.message}`);
    }
  };
  const count = Object.keys(simple ?? {}).length + (advanced?.length ?? 0);
  const { max } = bounds.filters;
  if (count > max) {
    return { conditions: [], faults: [`Too many filters in metadata and metadata_filters: ${count} (max ${max})`] };
  }
  for (const [key, value] of Object.entries(simple ?? {})) {
    add({ [key]: value }, () => ({
      path: pathOf(key),
      operator: 'eq',
      value: scalarOf('eq', value),
      caseSensitive: true,
    }));
  }
  for (const filter of advanced ?? []) add(filter, () => conditionOf(filter));
  return { conditions, faults };
}

class FilterFault extends Error {}

function conditionOf(filter: Readonly<Record<string, unknown>>): MetadataCondition {
  const path = pathOf(filter['key']);
  const operator = operatorOf(filter['operator'] ?? 'eq');
  const caseSensitive = filter['case_sensitive'] ?? false;
  const value = filter['value'];
  if (typeof caseSensitive !== 'boolean') throw new FilterFault('case_sensitive must be true or false');
  switch (operator) {
    case 'exists':
    case 'not_exists':
    case 'is_null':
    case 'is_not_null':
      return { path, operator };
    case 'in':
    case 'not_in':
      return { path, operator, value: listOf(operator, value), caseSensitive };
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      if (typeof value !== 'string') throw new FilterFault(`Operator ${operator} requires a string value`);
      return { path, operator, value: bounded(value), caseSensitive };
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value === 'string') return { path, operator, value: bounded(value), caseSensitive };
      if (isNumber(value)) return { path, operator, value, caseSensitive };
      throw new FilterFault(`Operator ${operator} requires a number or a string`);
    default:
      return { path, operator, value: scalarOf(operator, value), caseSensitive };
  }
}

function pathOf(key: unknown): string[] {
  if (typeof key !== 'string' || key === '') throw new FilterFault('Metadata key cannot be empty');
  check(bounds.filterKey, key.length);
  if (!/^[\p{L}\p{M}\p{N}_.-]+$/u.test(key)) {
    throw new FilterFault('The key may have letters, digits, dots, underscores and hyphens; dots reach into objects');
  }
  return key.split('.');
}

function operatorOf(name: unknown): (typeof operators)[number] {
  const found = operators.find((operator) => operator === name);
  if (found === undefined) throw new FilterFault(`The operator must be one of ${operators.join(', ')}`);
  return found;
}

function scalarOf(operator: 'eq' | 'ne' | 'array_contains', value: unknown): Scalar {
  if (Array.isArray(value)) throw new FilterFault(`Operator ${operator} requires a single value, not a list`);
  if (value === undefined || value === null) throw new FilterFault(`Operator ${operator} requires a non-null value`);
  return scalar(operator, value);
}

function listOf(operator: string, value: unknown): Scalar[] {
  if (!Array.isArray(value)) throw new FilterFault(`Operator ${operator} requires a list value`);
  if (value.length === 0) throw new FilterFault(`Operator ${operator} requires a non-empty list`);
  check(bounds.filterList, value.length, `the value of ${operator}`);
  return value.map((each) => scalar(operator, each));
}

function scalar(operator: string, value: unknown): Scalar {
  if (typeof value === 'string') return bounded(value);
  if (typeof value === 'boolean' || isNumber(value)) return value;
  throw new FilterFault(`Operator ${operator} compares with a string, a number or a boolean`);
}

function isNumber(value: unknown): value is number | bigint {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    throw new FilterFault('The value exceeds 1.8e308');
  }
  return typeof value === 'number' || typeof value === 'bigint';
}

function bounded(value: string): string {
  check(bounds.filterText, value.length);
  return value;
}

function check(limit: Bound, size: number, name?: string): void {
  if (size > limit.max) throw new FilterFault(limitMessage(limit, size, name));
}

/** Formats the caller's value for an error, shortened. */
function formatValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;
}
