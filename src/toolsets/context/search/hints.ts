import { isLong } from '../../../base/exact-json.ts';
import type { EntryFilter, MetadataCondition, Scalar } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import { editDistance } from '../../../words/edit-distance.ts';
import type { CorrectedWord } from '../../../words/ranking/word-index.ts';
import { leavesOf, type WordQuery } from '../../../words/word-query.ts';
import { absentWords, type QueryWord, quoteWords } from './query-words.ts';
import { nonEmptyFilter } from './ranked-search.ts';

export interface EmptySearch {
  readonly filter: EntryFilter;
  readonly offset?: number;
  /** Number of entries found on all pages, if known. */
  readonly total?: number;
  /** The query's words, for keyword searches. */
  readonly words?: readonly QueryWord[];
  /** Advice if the filters match some entries and all words occur in memory. */
  readonly advice?: string;
}

/** Explains an empty result and suggests what to try. Returns no hint if there are results. */
export async function emptyHint(
  entries: EntryStore,
  shown: readonly unknown[],
  search: EmptySearch,
  signal: AbortSignal,
): Promise<{ hint?: string }> {
  if (shown.length > 0) return {};
  const { filter, offset = 0, total, words = [], advice } = search;
  if (total !== undefined && total > 0) {
    return { hint: `offset ${offset} is past the last of ${total} entries; start again with offset 0.` };
  }
  if ((await entries.threads({ limit: 1, offset: 0 }, { signal })).total === 0 && filter.asOf === undefined) {
    return { hint: 'Memory is empty: add entries with store_context.' };
  }
  const isFiltered = nonEmptyFilter(filter) !== undefined;
  const matching = isFiltered ? (await entries.matching(filter, { signal })).length : undefined;
  if (matching === 0) return { hint: await filterHints(entries, filter, signal) };
  const absent = await absentWords(entries, words, signal);
  const sentences = [
    offset > 0 && words.length === 0
      ? `offset ${offset} is past the last entry${matching === undefined ? '' : ` of ${matching}`}; start again with offset 0.`
      : matching !== undefined && `Without the query, the filters match ${entryCount(matching)}.`,
    absent.length > 0 && `No entry contains ${quoteWords(absent)}: omit it or use other words.`,
    absent.length === 0 && advice,
  ].filter((sentence) => typeof sentence === 'string');
  return { hint: sentences.length === 0 ? 'No entry matches; use other words.' : sentences.join(' ') };
}

/** Names misspelt words and the words that were searched for instead. */
export function correctedHint(corrected: readonly CorrectedWord[]): string | undefined {
  if (corrected.length === 0) return undefined;
  return corrected
    .map(({ word, terms }) => `No entry contains ${quoteWords([word])}; searched for ${quoteWords(terms)}.`)
    .join(' ');
}

export function joinHints(...hints: readonly (string | undefined)[]): { hint?: string } {
  const present = hints.filter((hint) => hint !== undefined);
  return present.length === 0 ? {} : { hint: present.join(' ') };
}

/** Returns the words of a parsed query, as written if available, else as indexed. */
export function wordsOf(query: WordQuery): QueryWord[] {
  return leavesOf(query).map((leaf) => ({ query: leaf, word: formatLeaf(leaf) }));
}

function formatLeaf(leaf: ReturnType<typeof leavesOf>[number]): string {
  if (leaf.kind === 'phrase') return leaf.terms.join(' ');
  if (leaf.kind === 'prefix') return `${leaf.prefix}*`;
  return leaf.kind === 'fuzzy' ? leaf.written : (leaf.written ?? leaf.term);
}

function entryCount(count: number): string {
  return count === 1 ? '1 entry' : `${count} entries`;
}

/** Max filters examined separately; each costs a search. */
const examinedMax = 10;
/** Max threads, latest first, that are compared with a misspelt thread id. */
const threadsMax = 10_000;

/** Explains which filters match no entry, and suggests similar values. */
async function filterHints(entries: EntryStore, filter: EntryFilter, signal: AbortSignal): Promise<string> {
  const { asOf } = filter;
  const counts: string[] = [];
  const mismatches: string[] = [];
  for (const [name, part] of partsOf(filter).slice(0, examinedMax)) {
    const matches = await count({ ...part, asOf });
    if (matches > 0) counts.push(`${name} ${matches}`);
    else mismatches.push(await explainNoMatch(name, part));
  }
  if (mismatches.length > 0) return `No entry matches the filters. ${mismatches.join(' ')}`;
  const when = asOf === undefined ? '' : ` as of ${asOf}`;
  if (counts.length < 2) return `No entry matches the filters${when}.`;
  return `No entry matches all filters${when}; separately they match: ${counts.join(', ')}. Omit one.`;

  async function count(part: EntryFilter): Promise<number> {
    return (await entries.matching(part, { signal })).length;
  }

  async function explainNoMatch(name: string, part: EntryFilter): Promise<string> {
    if (part.threadId !== undefined) {
      const { nearest } = await nearestThread(entries, part.threadId, signal);
      return `There is no thread ${formatValue(part.threadId)}; ${nearest ? `the closest is ${formatValue(nearest)}` : 'list_threads lists all threads'}.`;
    }
    if (part.tags !== undefined) {
      const existing = (await entries.tags({}, { signal })).map(({ tag }) => tag);
      const nearest = part.tags.flatMap((tag) => nearestName(tag, existing) ?? []);
      const suggestion = nearest.length > 0 ? `; the closest is ${nearest.map(formatValue).join(', ')}` : '';
      return `No entry has the tag ${part.tags.map(formatValue).join(' or ')}${suggestion}.`;
    }
    const [condition] = part.metadata ?? [];
    return condition === undefined ? `${name} matches no entry.` : explainNoMetadata(condition);
  }

  async function explainNoMetadata(condition: MetadataCondition): Promise<string> {
    const key = condition.path.join('.');
    const formatted = 'value' in condition ? `${key} ${condition.operator} ${formatValue(condition.value)}` : key;
    for (const other of alternatives(condition)) {
      const matches = await count({ metadata: [other], asOf });
      if (matches > 0 && 'value' in other) {
        return `metadata ${formatted} matches no entry, but ${other.operator} ${formatValue(other.value)} matches ${matches}: ${reason(condition, other)}.`;
      }
    }
    const path = condition.path;
    if (
      condition.operator !== 'not_exists' &&
      (await count({ metadata: [{ path, operator: 'exists' }], asOf })) === 0
    ) {
      return `No entry has a metadata field ${key}.`;
    }
    return `metadata ${formatted} matches no entry.`;
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

function reason(condition: MetadataCondition, other: MetadataCondition): string {
  return condition.operator === other.operator
    ? 'a number or boolean is not the same as its text'
    : 'the field is a list';
}

function formatValue(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, 80).toWellFormed();
}

/** Max edit distance relative to the longer name. */
const distanceShareMax = 0.34;
/** Max characters compared, because the cost grows with the product of both lengths. */
const comparedMax = 80;

/** Returns the thread id that is closest to a misspelt one, if any, and the number of threads. */
export async function nearestThread(entries: EntryStore, name: string, signal: AbortSignal) {
  const { threads, total } = await entries.threads({ limit: threadsMax, offset: 0 }, { signal });
  const ids = threads.map(({ threadId }) => threadId);
  return { nearest: nearestName(name, ids), total };
}

/** Returns the candidate that is closest, ignoring case, if any is close enough. */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const word = name.toLowerCase().slice(0, comparedMax);
  let best: { name: string; distance: number } | undefined;
  for (const candidateName of candidates) {
    const candidate = candidateName.toLowerCase().slice(0, comparedMax);
    const allowed = Math.max(1, Math.floor(Math.max(word.length, candidate.length) * distanceShareMax));
    const isPart = word.length >= 3 && candidate.includes(word);
    if (!isPart && Math.abs(word.length - candidate.length) > allowed) continue;
    const distance = candidate === word ? 0 : isPart ? 0.5 : editDistance(word, candidate);
    if ((isPart || distance <= allowed) && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { name: candidateName, distance };
    }
  }
  return best?.name;
}
