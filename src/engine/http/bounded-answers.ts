import { firstFitting, wireBytes } from '../../base/wire-bytes.ts';
import { limitMax } from '../contract/validate-input.ts';
import { nextChunk } from '../document-parts.ts';
import type { EngineHit, EngineJob, EngineSearchAnswer, PageRequest, TagCount } from '../engine.ts';
import { type RouteCall, readInteger, readText } from './read-input.ts';

/**
 * Keeps answers within ANSWER_MAX_BYTES. A shortened answer has `next`, the query string for the rest; for a search,
 * `next_offset`.
 */

/** Bytes reserved for fields other than the list. */
const besideBytes = 32 * 1024;

/** Max items read at a time: some have long lists of tags or ids. */
const itemsAtOnce = 100;

export async function boundedPage<Name extends string, Item>(
  name: Name,
  query: URLSearchParams,
  bytesMax: number,
  read: (page: PageRequest) => Promise<Readonly<Record<Name, readonly Item[]>>>,
): Promise<unknown> {
  const [wanted, from] = [readInteger(query, 'limit'), readInteger(query, 'offset')];
  const items: Item[] = [];
  let room = bytesMax - besideBytes;
  for (let answer: object | undefined; ; ) {
    const left = wanted === undefined ? undefined : wanted - items.length;
    // Passes on a limit that is too large, so that the engine rejects it.
    const limit = left === undefined || left > limitMax ? left : Math.min(left, itemsAtOnce);
    const page = await read({ limit, offset: items.length === 0 ? from : (from ?? 0) + items.length });
    answer ??= page;
    const fitting = firstFitting(page[name], 1, room, items.length === 0 ? 1 : 0);
    items.push(...fitting);
    if (fitting.length < page[name].length) {
      const rest = wanted === undefined ? {} : { limit: wanted - items.length };
      return { ...answer, [name]: items, next: continued(query, { ...rest, offset: (from ?? 0) + items.length }) };
    }
    if (limit === undefined || limit === left || page[name].length < limit) return { ...answer, [name]: items };
    room -= wireBytes(fitting, 1);
  }
}

/** Omits the details of a job that do not fit: the record of a change may name 10,000 ids. */
export function boundedJob(job: EngineJob, bytesMax: number): EngineJob {
  const room = bytesMax - besideBytes;
  return wireBytes(job, 1, room) > room ? { ...job, details: {}, details_left_out: true } : job;
}

/** Shortens the list of hits. A single hit that does not fit loses its neighbours. */
export function boundedSearch(answer: EngineSearchAnswer, offset: number, bytesMax: number): unknown {
  const room = bytesMax - besideBytes;
  const results = answer.results.map((hit): EngineHit => {
    const { neighbours: _, ...alone } = hit;
    return wireBytes(hit, 1, room) > room ? alone : hit;
  });
  const fitting = firstFitting(results, 1, room);
  if (fitting.length === results.length) return { ...answer, results };
  return { ...answer, results: fitting, returned: fitting.length, next_offset: offset + fitting.length };
}

export async function boundedDocument(
  { engine, query, signal }: RouteCall,
  id: number,
  bytesMax: number,
): Promise<unknown> {
  const [first, most] = [readInteger(query, 'first_chunk'), readInteger(query, 'max_chunks')];
  const document = await engine.document(id, { first_chunk: first, max_chunks: most, bytesMax, signal });
  if (document.chunks_left === undefined) return document;
  const next = nextChunk(document.chunks, first ?? 0);
  // Does not repeat `max_chunks=0`: the next page would have no chunks either.
  const more = most === undefined || most === 0 ? {} : { max_chunks: most };
  return { ...document, next: continued(new URLSearchParams(), { first_chunk: next, ...more }) };
}

const tagsAtOnce = 5_000;

/** Max tags of an answer without `limit`. Clients bound the elements that they parse; see `serviceBounds`. */
const tagsMax = 25_000;

export async function boundedTags({ engine, query, signal }: RouteCall, bytesMax: number): Promise<unknown> {
  const limit = readInteger(query, 'limit') ?? Number.POSITIVE_INFINITY;
  const tags: TagCount[] = [];
  let left = bytesMax - besideBytes;
  for (let after = readText(query, 'after'); tags.length < limit; after = tags.at(-1)?.tag) {
    const wanted = Math.min(tagsAtOnce, limit - tags.length);
    const found = await engine.tags({ after, limit: wanted, signal });
    const fitting = firstFitting(found, 1, left, tags.length === 0 ? 1 : 0);
    tags.push(...fitting);
    const isFull = fitting.length < found.length || (limit === Number.POSITIVE_INFINITY && tags.length >= tagsMax);
    if (isFull) return { tags, next: continued(query, { after: tags.at(-1)?.tag ?? '' }) };
    if (found.length < wanted) break;
    left -= wireBytes(fitting, 1);
  }
  return { tags };
}

/** Returns the query with these values changed, as a query string. */
function continued(query: URLSearchParams, values: Readonly<Record<string, string | number>>): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) next.set(name, String(value));
  return `?${next}`;
}
