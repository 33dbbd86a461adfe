import { firstFitting, wireBytes } from '../../base/wire-bytes.ts';
import { limitMax } from '../contract/validate-input.ts';
import { nextChunk } from '../document-parts.ts';
import type { EngineHit, EngineJob, EngineSearchAnswer, PageRequest, TagCount } from '../engine.ts';
import { type RouteCall, readInteger, readText } from './read-input.ts';

/**
 * Limits answers to ANSWER_MAX_BYTES. A shortened answer has `next`, the query string of the next page, or `next_offset` for a
 * search.
 */

/** Bytes reserved for fields other than the list. */
const reservedBytes = 32 * 1024;

/** Max items per read: an item may have long lists of tags or ids. */
const batchItemsMax = 100;

export async function boundedPage<Name extends string, Item>(
  name: Name,
  query: URLSearchParams,
  bytesMax: number,
  read: (page: PageRequest) => Promise<Readonly<Record<Name, readonly Item[]>>>,
): Promise<unknown> {
  const [requested, start] = [readInteger(query, 'limit'), readInteger(query, 'offset')];
  const items: Item[] = [];
  let bytesLeft = bytesMax - reservedBytes;
  for (let answer: object | undefined; ; ) {
    const remaining = requested === undefined ? undefined : requested - items.length;
    // Passes on a limit that is too large, so that the engine rejects it.
    const limit = remaining === undefined || remaining > limitMax ? remaining : Math.min(remaining, batchItemsMax);
    const page = await read({ limit, offset: items.length === 0 ? start : (start ?? 0) + items.length });
    answer ??= page;
    const fitting = firstFitting(page[name], 1, bytesLeft, items.length === 0 ? 1 : 0);
    items.push(...fitting);
    if (fitting.length < page[name].length) {
      const nextLimit = requested === undefined ? {} : { limit: requested - items.length };
      return {
        ...answer,
        [name]: items,
        next: nextQuery(query, { ...nextLimit, offset: (start ?? 0) + items.length }),
      };
    }
    if (limit === undefined || limit === remaining || page[name].length < limit) return { ...answer, [name]: items };
    bytesLeft -= wireBytes(fitting, 1);
  }
}

/** Omits the details of a job that do not fit: the record of a change may name 10,000 ids. */
export function boundedJob(job: EngineJob, bytesMax: number): EngineJob {
  const bytesLeft = bytesMax - reservedBytes;
  return wireBytes(job, 1, bytesLeft) > bytesLeft ? { ...job, details: {}, details_left_out: true } : job;
}

/** Shortens the list of hits. A single hit that does not fit loses its neighbours. */
export function boundedSearch(answer: EngineSearchAnswer, offset: number, bytesMax: number): unknown {
  const bytesLeft = bytesMax - reservedBytes;
  const results = answer.results.map((hit): EngineHit => {
    const { neighbours: _, ...withoutNeighbours } = hit;
    return wireBytes(hit, 1, bytesLeft) > bytesLeft ? withoutNeighbours : hit;
  });
  const fitting = firstFitting(results, 1, bytesLeft);
  if (fitting.length === results.length) return { ...answer, results };
  return { ...answer, results: fitting, returned: fitting.length, next_offset: offset + fitting.length };
}

export async function boundedDocument(
  { engine, query, signal }: RouteCall,
  id: number,
  bytesMax: number,
): Promise<unknown> {
  const [first, max] = [readInteger(query, 'first_chunk'), readInteger(query, 'max_chunks')];
  const document = await engine.document(id, { first_chunk: first, max_chunks: max, bytesMax, signal });
  if (document.chunks_left === undefined) return document;
  const next = nextChunk(document.chunks, first ?? 0);
  // Does not repeat `max_chunks=0`: the next page would have no chunks either.
  const more = max === undefined || max === 0 ? {} : { max_chunks: max };
  return { ...document, next: nextQuery(new URLSearchParams(), { first_chunk: next, ...more }) };
}

const batchTagsMax = 5_000;

/** Max tags of an answer without `limit`. Clients reject JSON with too many elements; see `serviceBounds`. */
const tagsMax = 25_000;

export async function boundedTags({ engine, query, signal }: RouteCall, bytesMax: number): Promise<unknown> {
  const limit = readInteger(query, 'limit') ?? Number.POSITIVE_INFINITY;
  const tags: TagCount[] = [];
  let bytesLeft = bytesMax - reservedBytes;
  for (let after = readText(query, 'after'); tags.length < limit; after = tags.at(-1)?.tag) {
    const requested = Math.min(batchTagsMax, limit - tags.length);
    const found = await engine.tags({ after, limit: requested, signal });
    const fitting = firstFitting(found, 1, bytesLeft, tags.length === 0 ? 1 : 0);
    tags.push(...fitting);
    const isFull = fitting.length < found.length || (limit === Number.POSITIVE_INFINITY && tags.length >= tagsMax);
    if (isFull) return { tags, next: nextQuery(query, { after: tags.at(-1)?.tag ?? '' }) };
    if (found.length < requested) break;
    bytesLeft -= wireBytes(fitting, 1);
  }
  return { tags };
}

/** Returns the query with these values changed, as a query string. */
function nextQuery(query: URLSearchParams, values: Readonly<Record<string, string | number>>): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) next.set(name, String(value));
  return `?${next}`;
}
