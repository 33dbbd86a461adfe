import { z } from 'zod';
import type { Entry } from '../../storage/entries.ts';
import { showImage } from './images.ts';
import { truncate } from './truncate.ts';

const imageShape = z.object({
  data: z.string().describe('Base64.'),
  mime_type: z.string(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

const common = {
  id: z.int(),
  thread_id: z.string(),
  source: z.enum(['user', 'agent']),
  content_type: z.enum(['text', 'multimodal']),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  tags: z.array(z.string()),
  created_at: z.string().describe('ISO 8601, UTC.'),
  updated_at: z.string(),
  images: z.array(imageShape).optional(),
};

/** As get_context_by_ids shows an entry. */
export const fullEntryShape = z.object({
  ...common,
  text_content: z.string(),
  summary: z.string().nullable(),
});

/** As searches show one. */
export const foundEntryShape = z.object({
  ...common,
  text_content: z.string().describe('The beginning; get_context_by_ids gives all of it.'),
  summary: z.string(),
  is_text_content_truncated: z.boolean(),
});

export type FullEntry = z.input<typeof fullEntryShape>;
export type FoundEntry = z.input<typeof foundEntryShape>;

export function showFull(entry: Entry): FullEntry {
  return { ...showCommon(entry), text_content: entry.text, summary: entry.summary ?? null };
}

export function showFound(entry: Entry, charsMax: number): FoundEntry {
  const { text, truncated } = truncate(entry.text, charsMax);
  return {
    ...showCommon(entry),
    text_content: text,
    summary: entry.summary ?? '',
    is_text_content_truncated: truncated,
  };
}

function showCommon(entry: Entry) {
  return {
    id: entry.id,
    thread_id: entry.threadId,
    source: entry.source,
    content_type: entry.contentType,
    metadata: entry.metadata === undefined ? null : { ...entry.metadata },
    tags: [...entry.tags],
    created_at: entry.createdAt,
    updated_at: entry.updatedAt,
    ...(entry.images !== undefined && entry.contentType === 'multimodal'
      ? { images: entry.images.map(showImage) }
      : {}),
  };
}
