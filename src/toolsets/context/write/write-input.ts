import { createHash } from 'node:crypto';
import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json.ts';
import { isBlank } from '../../../base/text.ts';
import type { Idempotency, Metadata, NewEntry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { EntryUpdate } from '../../../storage/entries/write-entries.ts';
import { storedText } from '../../../tools/text-input.ts';
import { bounds, checkBound, normaliseTags } from '../inputs.ts';
import { withReplaced } from '../replaced-entries.ts';
import { checkJson, checkText } from './checked-text.ts';
import { type ImageLimits, parseImages } from './images.ts';

export interface WriteSettings extends ImageLimits {
  /** Min length of a text that gets a summary, in characters. Undefined if summaries are disabled. */
  readonly summaryCharsMin: number | undefined;
}

/**
 * Repeated calls with the same key run once and return the same answer. Only store_context describes this argument,
 * to save tokens.
 */
export const idempotencyInput = {
  idempotency_key: storedText(z.string().min(1).max(bounds.idempotencyKey.max)).optional(),
};

export const replacesInput = {
  replaces: z.int().min(1).optional().describe('Id of the entry that this one replaces.'),
};

type WriteArguments = Readonly<Record<string, unknown>>;

/** Returns the ids in `replaces` whose entries exist. */
export async function replacedEntries(
  entries: EntryStore,
  items: readonly WriteArguments[],
): Promise<ReadonlySet<number>> {
  const ids = items.flatMap(({ replaces }) => (isId(replaces) ? [replaces] : []));
  const found = ids.length === 0 ? [] : await entries.get({ ids, images: false, textChars: 1 });
  return new Set(found.map(({ id }) => id));
}

/** Validates one entry, from a single call or a batch. Throws the first error. */
export function parseNewEntry(
  item: WriteArguments,
  settings: WriteSettings,
  replaceable: ReadonlySet<number>,
): NewEntry {
  const { thread_id: thread, source, text, metadata, tags, images } = item;
  if (typeof thread !== 'string' || thread === '') throw invalid('Missing required field: thread_id');
  if (source !== 'user' && source !== 'agent') throw invalid('Missing or invalid source (must be "user" or "agent")');
  if (typeof text !== 'string' || text === '') throw invalid('Missing required field: text');
  if (isBlank(thread)) throw invalid('thread_id cannot be empty or whitespace');
  if (isBlank(text)) throw invalid('text cannot be empty or whitespace');
  checkBound(bounds.thread, thread.trim().length);
  checkText('thread_id', thread);
  const body = boundedText(text.trim());
  const replaced = parseReplaced(item, replaceable);
  const parsedMetadata = isPresent(metadata) ? parseMetadata('metadata', metadata) : undefined;
  return {
    threadId: thread.trim(),
    source,
    text: body,
    metadata: replaced === undefined ? parsedMetadata : withReplaced(parsedMetadata, replaced),
    tags: isPresent(tags) ? parseTags(tags) : [],
    images: isPresent(images) ? parseImages(parseList(images, 'images'), settings) : [],
    summary: undefined,
    needsSummary: needsSummary(body, settings),
  };
}

export function parseUpdate(
  item: WriteArguments,
  settings: WriteSettings,
  replaceable: ReadonlySet<number>,
): EntryUpdate {
  const { context_id: id, text, metadata, metadata_patch: patch, tags, images } = item;
  if (id === undefined || id === null) throw invalid('Missing required field: context_id');
  if (!isId(id)) throw invalid('context_id must be a positive integer');
  if (typeof text === 'string' && isBlank(text)) throw invalid('text cannot be empty or contain only whitespace');
  if (text !== undefined && text !== null && typeof text !== 'string') throw invalid('text must be a string');
  if (isPresent(metadata) && isPresent(patch)) {
    throw invalid(
      'Cannot use both metadata and metadata_patch parameters together. Use metadata for full replacement or metadata_patch for partial updates.',
    );
  }
  const replaced = parseReplaced(item, replaceable);
  if (replaced === id) throw invalid('replaces: an entry cannot replace itself');
  if (![text, metadata, patch, tags, images, replaced].some(isPresent))
    throw invalid('At least one field must be provided for update');
  const body = typeof text === 'string' ? boundedText(text.trim()) : undefined;
  return {
    id,
    ...(body === undefined ? {} : { text: body, needsSummary: needsSummary(body, settings) }),
    ...(isPresent(metadata) ? { metadata: addReplaced(parseMetadata('metadata', metadata), replaced) } : {}),
    ...(isPresent(patch) ? { metadataPatch: addReplaced(parseMetadata('metadata_patch', patch), replaced) } : {}),
    ...(replaced !== undefined && !isPresent(metadata) && !isPresent(patch)
      ? { metadataPatch: withReplaced(undefined, replaced) }
      : {}),
    ...(isPresent(tags) ? { tags: parseTags(tags) } : {}),
    ...(isPresent(images) ? { images: parseImages(parseList(images, 'images'), settings) } : {}),
  };
}

/** Returns the key of a call with a hash of its input. A different call with the same key has another hash. */
export function idempotencyOf(
  tool: string,
  { idempotency_key: key, ...input }: { idempotency_key?: string | undefined },
) {
  if (key === undefined) return {};
  const bodyHash = createHash('sha256')
    .update(`${tool} ${stableJson(input)}`)
    .digest('hex');
  return { idempotency: { key, bodyHash } satisfies Idempotency };
}

function needsSummary(text: string, { summaryCharsMin }: WriteSettings): boolean {
  return summaryCharsMin !== undefined && text.length >= summaryCharsMin;
}

function boundedText(text: string): string {
  checkBound(bounds.text, text.length);
  checkText('text', text);
  return text;
}

function parseMetadata(name: string, value: unknown): Metadata {
  if (!isObject(value)) throw invalid(`${name} must be an object`);
  const metadata = { ...value };
  checkJson(name, metadata, bounds.metadata);
  checkBound(bounds.metadataJson, JSON.stringify(metadata).length, name);
  return metadata;
}

function addReplaced(metadata: Metadata, replaced: number | undefined): Metadata {
  return replaced === undefined ? metadata : withReplaced(metadata, replaced);
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function parseReplaced({ replaces }: WriteArguments, replaceable: ReadonlySet<number>): number | undefined {
  if (!isPresent(replaces)) return undefined;
  if (!isId(replaces)) throw invalid('replaces must be a positive integer');
  if (!replaceable.has(replaces)) throw invalid(`replaces: context entry with ID ${replaces} not found`);
  return replaces;
}

function parseTags(value: unknown): string[] {
  if (!Array.isArray(value) || !value.every((tag) => typeof tag === 'string')) {
    throw invalid('tags must be a list of strings');
  }
  for (const tag of value) checkText('a tag', tag);
  return normaliseTags(value);
}

function parseList(value: unknown, name: string): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value) || !value.every(isObject)) throw invalid(`${name} must be a list of objects`);
  return value;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Serializes a value with sorted keys, so that their order doesn't change the hash. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner) && !JSON.isRawJSON(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

function invalid(message: string): CarrelError {
  return new CarrelError('invalid_arguments', message);
}
