import type { MetadataCondition } from '../../contracts/entry-filter.ts';
import type { Dialect } from '../../dialect.ts';
import type { Condition } from '../../statements.ts';

/**
 * What must stand in the metadata of an entry `o`, as the JSON that we wrote,
   for the condition to hold: fewer entries have
 * to be read and tested. Undefined where nothing can be told.
 */
export function necessaryText(condition: MetadataCondition, dialect: Dialect): Condition | undefined {
  const key = condition.path.at(-1) ?? '';
  // Other characters may be written in several ways.
  if (condition.operator === 'not_exists' || !/^[\x20-\x7e]+$/.test(key)) return undefined;
  return {
    sql: `${dialect.position('o.metadata', '?')} > 0`,
    values: [`${JSON.stringify(key)}:${beginningOf(condition)}`],
  };
}

/** A colon of ours is followed by the value at once. */
function beginningOf(condition: MetadataCondition): string {
  switch (condition.operator) {
    case 'is_null':
      return 'null';
    case 'array_contains':
      return '[';
    case 'contains':
    case 'starts_with':
    case 'ends_with':
      return '"';
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return typeof condition.value === 'string' ? '"' : '';
    case 'eq':
      if (typeof condition.value !== 'string') return JSON.stringify(condition.value);
      return condition.caseSensitive && /^[\x20-\x7e]*$/.test(condition.value) ? JSON.stringify(condition.value) : '"';
    default:
      return '';
  }
}
