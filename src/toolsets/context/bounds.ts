import { CarrelError } from '../../base/errors.ts';
import { metadataUnitsMax } from '../../storage/entries/entry.ts';

/** How much of something a call may have. */
export interface Bound {
  readonly max: number;
  /** What is measured, as errors and the documentation call it. */
  readonly name: string;
  /** What is counted; characters are UTF-16 units. */
  readonly unit: string;
}

/** What an entry and a call may have. `npm run docs` puts all of them into docs/context.md. */
export const bounds = {
  text: bound('text', 2_000_000, 'characters'),
  thread: bound('thread_id', 512, 'characters'),
  tags: bound('tags', 100, 'different tags'),
  tag: bound('a tag', 256, 'characters'),
  metadata: bound('metadata', 2_000, 'values'),
  metadataJson: bound('metadata', metadataUnitsMax, 'characters as JSON'),
  levels: bound('metadata', 128, 'levels of objects and lists in each other'),
  images: bound('images', 100, 'images'),
  idempotencyKey: bound('idempotency_key', 256, 'characters'),
  batch: bound('entries, updates', 100, 'items'),
  gotIds: bound('context_ids of get_context_by_ids', 1_000, 'ids'),
  removedIds: bound('context_ids of other tools', 10_000, 'ids'),
  threads: bound('thread_ids', 1_000, 'ids'),
  days: bound('older_than_days', 36_500, 'days'),
  limit: bound('limit of a search', 100, 'entries'),
  query: bound('query', 10_000, 'characters'),
  filters: bound('metadata, metadata_filters', 100, 'filters together'),
  filterKey: bound('the key of a filter', 500, 'characters'),
  filterText: bound('the value of a filter', 10_000, 'characters'),
  filterList: bound('the list of a filter', 1_000, 'values'),
} satisfies Record<string, Bound>;

function bound(name: string, max: number, unit: string): Bound {
  return { name, max, unit };
}

/** Throws an error with the name, the size and the bound. `called` where the caller knows it by another name. */
export function checkBound(limit: Bound, size: number, called?: string): void {
  if (size > limit.max) throw new CarrelError('invalid_arguments', exceeded(limit, size, called));
}

export function exceeded({ name, max, unit }: Bound, size: number, called = name): string {
  return `${called} has ${size} ${unit}, and may have at most ${max}`;
}
