import * as z from 'zod';
import { explainInput } from '../../../answers/explain.ts';
import { budgetInput } from '../../../answers/token-budget.ts';
import { CarrelError } from '../../../base/errors.ts';
import { isBlank } from '../../../base/text.ts';
import type { EntryFilter } from '../../../storage/entries/entry.ts';
import { storable } from '../../../storage/storable.ts';
import { bounds, checkBound, jsonObject, normaliseTags } from '../inputs.ts';
import { parseDateRange, parseMoment } from './dates.ts';
import { parseMetadataFilters } from './metadata-filters.ts';

/** Arguments of all four searches. */
export function searchInput(defaults: { limit: number }) {
  return {
    limit: z.int().min(1).default(defaults.limit),
    offset: z.int().min(0).default(0),
    ...filterInput,
    ...asOfInput,
    include_images: z.boolean().default(false),
    ...explainInput,
    explain_query: z.boolean().default(false).describe('Add query statistics.'),
    ...budgetInput,
  };
}

export type SearchArguments = z.output<z.ZodObject<ReturnType<typeof searchInput>>>;

/** For searches that hide low-relevance results. */
export const weakInput = {
  include_weak: z.boolean().optional().describe('Include low-relevance results.'),
};

/** Only the description of search_context explains the operators, to save tokens. */
export const filterInput = {
  thread_id: z.string().min(1).optional(),
  source: z.enum(['user', 'agent']).optional(),
  tags: z.array(z.string()).optional().describe('Any of these.'),
  content_type: z.enum(['text', 'multimodal']).optional(),
  metadata: jsonObject.optional().describe('Fields to match exactly.'),
  metadata_filters: z
    .array(jsonObject)
    .optional()
    .describe('Such as {"key": "priority", "operator": "gte", "value": 5}'),
  start_date: z.string().optional().describe('ISO 8601.'),
  end_date: z.string().optional(),
};

export const asOfInput = {
  as_of: z.string().optional().describe('Memory as of this time.'),
};

export const queryInput = z.string().min(1);

type FilterArguments = Partial<z.output<z.ZodObject<typeof filterInput & typeof asOfInput>>>;

/**
 * Returns the filter and the number of its conditions. If a metadata filter is invalid, `faults` describes it; the search
 * must then not run.
 */
export function parseFilters(input: FilterArguments) {
  const { conditions, faults } = parseMetadataFilters(input.metadata, input.metadata_filters);
  const tags = normaliseTags((input.tags ?? []).map(storable));
  const filter: EntryFilter = {
    threadId: input.thread_id?.trim() || input.thread_id,
    source: input.source,
    contentType: input.content_type,
    ...(tags.length > 0 ? { tags } : {}),
    ...(conditions.length > 0 ? { metadata: conditions } : {}),
    ...parseDateRange(input.start_date, input.end_date),
    ...asOfFilter(input),
  };
  const simple = Object.entries(filter).filter(([name, value]) => name !== 'metadata' && value !== undefined).length;
  return { filter, faults, applied: simple + conditions.length };
}

export function asOfFilter({ as_of: text }: { as_of?: string | undefined }): { asOf?: string } {
  return text === undefined ? {} : { asOf: parseMoment('as_of', text) };
}

/** Limits the page size. If the caller asked for more, `clamped` reports it. */
export function pageOf({ limit, offset }: { limit: number; offset: number }) {
  const { max } = bounds.limit;
  const clamped = limit <= max ? {} : { clamped_limit: { requested: limit, applied: max } };
  return { limit: Math.min(limit, max), offset, clamped };
}

export function queryText(text: string): string {
  if (isBlank(text)) throw new CarrelError('invalid_arguments', 'query cannot be empty or whitespace');
  checkBound(bounds.query, text.length);
  return text.trim();
}
