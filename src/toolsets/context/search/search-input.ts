import * as z from 'zod';
import { explainInput } from '../../../answers/explain.ts';
import { budgetInput } from '../../../answers/token-budget.ts';
import { CarrelError } from '../../../base/errors.ts';
import { isBlank } from '../../../base/text.ts';
import type { EntryFilter } from '../../../storage/entries/entry-filter.ts';
import { storable } from '../../../storage/storable.ts';
import { bounds, checkBound, jsonObject, normaliseTags } from '../inputs.ts';
import { parseDateRange, parseMoment } from './dates.ts';
import { parseMetadataFilters } from './metadata-filters.ts';

const limitMax = bounds.limit.max;

/** Arguments of all four searches. */
export function searchInput(defaults: { limit: number }) {
  return {
    limit: z.int().min(1).default(defaults.limit),
    offset: z.int().min(0).default(0),
    ...filterInput,
    ...asOfInput,
    include_images: z.boolean().default(false),
    ...explainInput,
    explain_query: z.boolean().default(false).describe('Add statistics.'),
    ...budgetInput,
  };
}

export interface SearchArguments extends FilterArguments {
  limit: number;
  offset: number;
  include_images: boolean;
  explain: boolean;
  explain_query: boolean;
  budget_tokens?: number | undefined;
}

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

interface FilterArguments {
  thread_id?: string | undefined;
  source?: 'user' | 'agent' | undefined;
  tags?: string[] | undefined;
  content_type?: 'text' | 'multimodal' | undefined;
  metadata?: Record<string, unknown> | undefined;
  metadata_filters?: Record<string, unknown>[] | undefined;
  start_date?: string | undefined;
  end_date?: string | undefined;
  as_of?: string | undefined;
}

interface ParsedSearch {
  readonly filter: EntryFilter;
  /** Faults in metadata filters. If there are any, nothing is searched and the answer lists them. */
  readonly faults: readonly string[];
  /** Number of filters. */
  readonly applied: number;
}

export function parseFilters(input: FilterArguments): ParsedSearch {
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

interface Page {
  readonly limit: number;
  readonly offset: number;
  readonly clamped: { clamped_limit?: { requested: number; applied: number } };
}

export function pageOf({ limit, offset }: { limit: number; offset: number }): Page {
  if (limit <= limitMax) return { limit, offset, clamped: {} };
  return { limit: limitMax, offset, clamped: { clamped_limit: { requested: limit, applied: limitMax } } };
}

export function queryText(text: string): string {
  if (isBlank(text)) throw new CarrelError('invalid_arguments', 'query cannot be empty or whitespace');
  checkBound(bounds.query, text.length);
  return text.trim();
}
