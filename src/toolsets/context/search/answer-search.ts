import { rounded, weakHint, whyFound } from '../../../answers/explain.ts';
import type { EntryFilter } from '../../../storage/entries/entry.ts';
import type { Call } from '../../../tools/call.ts';
import type { ContextParts } from '../context-parts.ts';
import { citationOf } from '../show/entry-resources.ts';
import { showHit } from '../show/entry-shapes.ts';
import { fitAnswer } from '../show/fit-answer.ts';
import { type EmptySearch, emptyHint, joinHints } from './hints.ts';
import { filterFaults, historyWarnings, joinWarnings, nextOffset, type SearchWarnings } from './search-answer.ts';
import { pageOf, parseFilters, queryText, type SearchArguments } from './search-input.ts';

/** A search with parsed arguments. */
export interface SearchRequest {
  readonly text: string;
  readonly filter: EntryFilter;
  readonly limit: number;
  readonly offset: number;
  /** Number of filters, for the statistics. */
  readonly applied: number;
  readonly explain: boolean;
  readonly signal: AbortSignal;
}

interface Hit {
  readonly id: number;
  readonly relevance: number;
  readonly range: readonly [start: number, end: number] | undefined;
  /** The scores that mcp-context-server reports. */
  readonly scores: object;
  readonly replaces?: number | undefined;
  readonly replacedBy?: number | undefined;
  /** The scores of each stage, for `explain`. */
  readonly stages: object;
}

/** One page of results with relevance. */
export interface SearchOutcome {
  readonly hits: readonly Hit[];
  readonly hasMore: boolean;
  /** Number of matching entries on all pages, if counted. */
  readonly total?: number;
  /** Number of low-relevance entries hidden on this page. */
  readonly weak?: number;
  /** Fields of the answer that only this mode has. */
  readonly modeFields?: object;
  /** Fields of the answer about relevance. */
  readonly relevanceFields: object;
  readonly stats: (rows: number) => object;
  readonly hints?: readonly (string | undefined)[];
  /** Input for the hint if nothing is found. */
  readonly empty: Pick<EmptySearch, 'total' | 'words' | 'advice'>;
  readonly warnings?: SearchWarnings;
  /** Returns a copy of the text with marked matches. */
  readonly highlight?: ((text: string, bytesLeft: number) => Promise<string>) | undefined;
}

/** The parts that differ between keyword, semantic and hybrid search. */
interface SearchMode {
  /** Fields of the answer that repeat the request. */
  readonly requestFields: object;
  /** Fields of the answer if the filters are invalid. */
  readonly ifInvalid: { readonly modeFields?: object; stats(applied: number): object };
  search(request: SearchRequest): Promise<SearchOutcome>;
}

/** Performs a text search in any mode: parses the arguments, searches, and fits the results into the answer. */
export async function answerSearch(
  { requestFields, ifInvalid, search }: SearchMode,
  input: SearchArguments & { readonly query: string },
  { entries, summaries, truncationChars }: Pick<ContextParts, 'entries' | 'summaries' | 'truncationChars'>,
  call: Call,
) {
  const { signal } = call;
  const text = queryText(input.query);
  const { filter, faults, applied } = parseFilters(input);
  const { limit, offset, clamped } = pageOf(input);
  const explain = input.explain_query;
  const showsReasons = input.explain || explain;
  if (faults.length > 0) {
    const stats = explain ? { stats: ifInvalid.stats(applied) } : {};
    return { ...requestFields, ...filterFaults(faults), ...ifInvalid.modeFields, ...clamped, ...stats };
  }
  const outcome = await search({ text, filter, limit, offset, applied, explain, signal });
  const { highlight, total, weak = 0 } = outcome;
  const hits = new Map(outcome.hits.map((hit) => [hit.id, hit]));
  await summaries?.waitForLocal();
  const { results, found, omitted, report } = await fitAnswer(
    entries,
    [...hits.keys()],
    {
      images: input.include_images,
      asOf: filter.asOf,
      ...(highlight ? {} : { textChars: truncationChars + 1 }),
      order: 'requested',
      input,
      show: async (entry, bytesLeft) => {
        const { relevance, scores, stages, range, replaces, replacedBy } = hits.get(entry.id) ?? {};
        const shown = showHit(entry, truncationChars);
        return {
          ...shown,
          ...(showsReasons
            ? { ...citationOf(entry, range), why: whyFound({ query: text, text: shown.text_content }) }
            : {}),
          relevance,
          scores: rounded({ ...scores, ...(showsReasons ? stages : {}) }),
          ...(replaces === undefined ? {} : { replaces }),
          ...(replacedBy === undefined ? {} : { replaced_by: replacedBy }),
          ...(highlight ? { highlighted: await highlight(entry.text, bytesLeft) } : {}),
        };
      },
    },
    call,
  );
  const emptyReason =
    found.length === 0 && weak > 0
      ? weakHint(weak, 'entry', 'entries')
      : (await emptyHint(entries, [...found, ...omitted], { filter, offset, ...outcome.empty }, signal)).hint;
  return {
    ...requestFields,
    results,
    count: results.length,
    ...(total === undefined ? {} : { total }),
    has_more: omitted.length > 0 || outcome.hasMore,
    ...outcome.modeFields,
    ...(explain ? { stats: outcome.stats(results.length) } : {}),
    ...clamped,
    ...report,
    ...nextOffset(offset, results, omitted),
    ...outcome.relevanceFields,
    ...joinHints(...(outcome.hints ?? []), report.hint, emptyReason),
    ...joinWarnings(outcome.warnings ?? {}, await historyWarnings(entries, filter, 'search', signal)),
  };
}
