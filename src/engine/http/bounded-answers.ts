import { firstFitting, wireBytes } from '../../base/wire-bytes.ts';
import { nextChunk } from '../document-parts.ts';
import type { EngineHit, EngineJob, EngineSearchAnswer, TagCount, TagOverviewSizes, UsedTags } from '../engine.ts';
import { limitMax } from '../local/requests.ts';
import { readInteger, readText } from './read-input.ts';
import type { RouteCall } from './route-call.ts';

/*
 * Answers within ANSWER_MAX_BYTES. One that leaves something out says so with `next`, the query string of the request that
 * goes on, or with `next_offset` for a search.
 */

/** For what stands beside the items of a list. */
const besideBytes = 32 * 1024;

/** Items that are read at a time: some have long lists of tags or ids. */
const itemsAtOnce = 100;

/** A page of a list, by the name of its items. */
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
    // More than a page may have is for the engine to refuse.
    const limit = left === undefined || left > limitMax ? left : Math.min(left, itemsAtOnce);
    const page = await read({ limit, offset: items.length === 0 ? from : (from ?? 0) + items.length });
    answer ??= page;
    const shown = firstFitting(page[name], 1, room, items.length === 0 ? 1 : 0);
    items.push(...shown);
    if (shown.length < page[name].length) {
      const rest = wanted === undefined ? {} : { limit: wanted - items.length };
      return { ...answer, [name]: items, next: continued(query, { ...rest, offset: (from ?? 0) + items.length }) };
    }
    if (limit === undefined || limit === left || page[name].length < limit) return { ...answer, [name]: items };
    room -= wireBytes(shown, 1);
  }
}

interface PageRequest {
  readonly limit: number | undefined;
  readonly offset: number | undefined;
}

/** The record of a change may name 10,000 ids. Where they do not fit, it comes without. */
export function boundedJob(job: EngineJob, bytesMax: number): EngineJob {
  const room = bytesMax - besideBytes;
  return wireBytes(job, 1, room) > room ? { ...job, details: {}, details_left_out: true } : job;
}

/** A hit that would not even fit alone comes without its neighbours. */
export function boundedSearch(answer: EngineSearchAnswer, offset: number, bytesMax: number): unknown {
  const room = bytesMax - besideBytes;
  const results = answer.results.map((hit) => (wireBytes(hit, 1, room) > room ? alone(hit) : hit));
  const shown = firstFitting(results, 1, room);
  if (shown.length === results.length) return { ...answer, results };
  return { ...answer, results: shown, returned: shown.length, next_offset: offset + shown.length };
}

function alone({ neighbours: _, ...hit }: EngineHit): EngineHit {
  return hit;
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
  // Whoever has asked for no chunks does not go on with none.
  const more = most === undefined || most === 0 ? {} : { max_chunks: most };
  return { ...document, next: continued(new URLSearchParams(), { first_chunk: next, ...more }) };
}

/** Tags that are read at a time. */
const tagsAtOnce = 5_000;

export async function boundedTags(call: RouteCall, bytesMax: number): Promise<unknown> {
  const { engine, query, signal } = call;
  const [collections, others] = [readInteger(query, 'collections'), readInteger(query, 'others')];
  if (collections !== undefined || others !== undefined) {
    return boundedOverview(call, { collections: collections ?? 0, others: others ?? 0 }, bytesMax);
  }
  const limit = readInteger(query, 'limit') ?? Number.POSITIVE_INFINITY;
  const tags: TagCount[] = [];
  let room = bytesMax - besideBytes;
  for (let after = readText(query, 'after'); tags.length < limit; after = tags.at(-1)?.tag) {
    const wanted = Math.min(tagsAtOnce, limit - tags.length);
    const found = await engine.tags({ after, limit: wanted, signal });
    const shown = firstFitting(found, 1, room, tags.length === 0 ? 1 : 0);
    tags.push(...shown);
    if (shown.length < found.length) return { tags, next: continued(query, { after: tags.at(-1)?.tag ?? '' }) };
    if (found.length < wanted) break;
    room -= wireBytes(shown, 1);
  }
  return { tags };
}

/** Tags of one kind in an overview. */
const overviewMax = 10_000;

/** Half of the room for each kind; `total` tells what is left out. */
async function boundedOverview(
  { engine, signal }: RouteCall,
  { collections, others }: TagOverviewSizes,
  bytesMax: number,
): Promise<unknown> {
  const [most, more] = [Math.min(collections, overviewMax), Math.min(others, overviewMax)];
  const found = await engine.tagOverview({ collections: most, others: more }, { signal });
  const fitting = ({ tags, total }: UsedTags) => ({ tags: firstFitting(tags, 1, (bytesMax - besideBytes) / 2), total });
  return { collections: fitting(found.collections), others: fitting(found.others) };
}

/** The same query with other values, as a reference that is relative to the request. */
function continued(query: URLSearchParams, values: Readonly<Record<string, string | number>>): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(values)) next.set(name, String(value));
  return `?${next}`;
}
