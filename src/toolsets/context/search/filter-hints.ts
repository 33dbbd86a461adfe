import { isLong } from '../../../base/exact-json.ts';
import type { EntryFilter, MetadataCondition, Scalar } from '../../../storage/entries/entry-filter.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import { nearestName } from './nearest-name.ts';

/** Max filters examined separately; each costs a search. */
const lookedAtMax = 10;
/** Max threads, latest first, that are compared with a misspelt thread id. */
const threadsMax = 10_000;

/** Explains which filters match no entry, and suggests similar values. */
export async function filterHints(entries: EntryStore, filter: EntryFilter, signal: AbortSignal): Promise<string> {
  const { asOf } = filter;
  const counts: string[] = [];
  const none: string[] = [];
  for (const [name, part] of partsOf(filter).slice(0, lookedAtMax)) {
    const matches = await count({ ...part, asOf });
    if (matches > 0) counts.push(`${name} ${matches}`);
    else none.push(await whyNone(name, part));
  }
  if (none.length > 0) return `No entry matches the filters. ${none.join(' ')}`;
  const when = asOf === undefined ? '' : ` as of ${asOf}`;
  if (counts.length < 2) return `No entry matches the filters${when}.`;
  return `No entry matches all filters${when}; separately they match: ${counts.join(', ')}. Leave one out.`;

  async function count(part: EntryFilter): Promise<number> {
    return (await entries.matching(part, { signal })).length;
  }

  async function whyNone(name: string, part: EntryFilter): Promise<string> {
    if (part.threadId !== undefined) {
      const { threads } = await entries.threads({ limit: threadsMax, offset: 0 }, { signal });
      const near = nearestName(
        part.threadId,
        threads.map(({ threadId }) => threadId),
      );
      return `There is no thread ${formatValue(part.threadId)}; ${near ? `the closest is ${formatValue(near)}` : 'list_threads lists all threads'}.`;
    }
    if (part.tags !== undefined) {
      const known = (await entries.tags({}, { signal })).map(({ tag }) => tag);
      const near = part.tags.flatMap((tag) => nearestName(tag, known) ?? []);
      const meant = near.length > 0 ? `; the closest is ${near.map(formatValue).join(', ')}` : '';
      return `No entry has the tag ${part.tags.map(formatValue).join(' or ')}${meant}.`;
    }
    const [condition] = part.metadata ?? [];
    return condition === undefined ? `${name} matches no entry.` : whyNoMetadata(condition);
  }

  async function whyNoMetadata(condition: MetadataCondition): Promise<string> {
    const key = condition.path.join('.');
    const said = 'value' in condition ? `${key} ${condition.operator} ${formatValue(condition.value)}` : key;
    for (const other of alternatives(condition)) {
      const matches = await count({ metadata: [other], asOf });
      if (matches > 0 && 'value' in other) {
        return `metadata ${said} matches no entry, but ${other.operator} ${formatValue(other.value)} matches ${matches}: ${reason(condition, other)}.`;
      }
    }
    const path = condition.path;
    if (
      condition.operator !== 'not_exists' &&
      (await count({ metadata: [{ path, operator: 'exists' }], asOf })) === 0
    ) {
      return `No entry has a metadata field ${key}.`;
    }
    return `metadata ${said} matches no entry.`;
  }
}

/** Splits a filter into its conditions, each named after its argument. */
function partsOf(filter: EntryFilter): [name: string, part: EntryFilter][] {
  const { threadId, source, contentType, tags, createdFrom, createdTo, metadata = [] } = filter;
  const parts: [string, EntryFilter][] = [
    ['thread_id', { threadId }],
    ['source', { source }],
    ['content_type', { contentType }],
    ['tags', { tags }],
    ['start_date', { createdFrom }],
    ['end_date', { createdTo }],
  ];
  return [
    ...parts.filter(([, part]) => Object.values(part).some((value) => value !== undefined)),
    ...metadata.map((each): [string, EntryFilter] => [`metadata ${each.path.join('.')}`, { metadata: [each] }]),
  ];
}

/** Returns similar conditions to try: the value as another type, or as a member of an array. */
function alternatives(condition: MetadataCondition): MetadataCondition[] {
  switch (condition.operator) {
    case 'eq':
    case 'array_contains':
      return otherTypes(condition.value)
        .map((value): MetadataCondition => ({ ...condition, value }))
        .concat(condition.operator === 'eq' ? [{ ...condition, operator: 'array_contains' }] : []);
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return otherTypes(condition.value).flatMap((value) =>
        typeof value === 'boolean' ? [] : [{ ...condition, value }],
      );
    case 'in':
      return [{ ...condition, value: condition.value.flatMap((value) => [...otherTypes(value), value]) }];
    case 'contains':
      return otherTypes(condition.value).map((value) => ({ ...condition, operator: 'array_contains', value }));
    default:
      return [];
  }
}

function otherTypes(value: Scalar): Scalar[] {
  if (typeof value !== 'string') return [String(value)];
  if (value === 'true' || value === 'false') return [value === 'true'];
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) return [];
  return [isLong(number) && /^-?\d+$/.test(value) ? BigInt(value) : number];
}

function reason(asked: MetadataCondition, other: MetadataCondition): string {
  return asked.operator === other.operator ? 'a number or boolean is not the same as its text' : 'the field is a list';
}

function formatValue(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 80).toWellFormed();
}
