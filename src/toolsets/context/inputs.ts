import * as z from 'zod';
import { CarrelError } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { metadataUnitsMax } from '../../storage/entries/entry.ts';

/** A limit on a part of a call or entry. */
export interface Bound {
  readonly max: number;
  /** What is limited, as errors and docs name it. */
  readonly name: string;
  /** What `max` counts. Characters are UTF-16 units. */
  readonly unit: string;
}

/** Limits of entries and calls. `npm run docs` writes them to docs/context.md. */
export const bounds = {
  text: bound('text', 2_000_000, 'characters'),
  thread: bound('thread_id', 512, 'characters'),
  tags: bound('tags', 100, 'distinct tags'),
  tag: bound('a tag', 256, 'characters'),
  metadata: bound('metadata', 2_000, 'values'),
  metadataJson: bound('metadata', metadataUnitsMax, 'characters as JSON'),
  levels: bound('metadata', 128, 'levels of nested objects and lists'),
  images: bound('images', 100, 'images'),
  idempotencyKey: bound('idempotency_key', 256, 'characters'),
  batch: bound('entries of a batch', 100, 'entries'),
  idsToGet: bound('context_ids of get_context_by_ids', 1_000, 'ids'),
  idsToRemove: bound('context_ids of other tools', 10_000, 'ids'),
  threads: bound('thread_ids', 1_000, 'ids'),
  days: bound('older_than_days', 36_500, 'days'),
  limit: bound('limit of a search', 100, 'entries'),
  query: bound('query', 10_000, 'characters'),
  filters: bound('metadata and metadata_filters together', 100, 'filters'),
  filterKey: bound('the key of a filter', 500, 'characters'),
  filterText: bound('the value of a filter', 10_000, 'characters'),
  filterList: bound('the list of a filter', 1_000, 'values'),
} satisfies Record<string, Bound>;

function bound(name: string, max: number, unit: string): Bound {
  return { name, max, unit };
}

/** Throws if `size` exceeds the limit. The error shows `name` instead of the limit's name, if it is set. */
export function checkBound(limit: Bound, size: number, name?: string): void {
  if (size > limit.max) throw new CarrelError('invalid_arguments', limitMessage(limit, size, name));
}

export function limitMessage(limit: Bound, size: number, name = limit.name): string {
  const { max, unit } = limit;
  return `${name} has ${size} ${unit}; the maximum is ${max}`;
}

/** Schema of an object argument that keeps all keys. `z.record` would drop `__proto__`. */
export const jsonObject = z.custom<Record<string, unknown>>(isObject, 'must be an object').meta({ type: 'object' });

/** Trims, lower-cases and sorts tags, drops duplicates and empty ones, and checks the limits. */
export function normaliseTags(tags: readonly string[]): string[] {
  const normalised = [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => tag !== '');
  checkBound(bounds.tags, normalised.length);
  checkBound(bounds.tag, Math.max(...normalised.map((tag) => tag.length)));
  return normalised.sort((a, b) => (a < b ? -1 : 1));
}
