import * as z from 'zod';

/** Request bodies of the engine's API. Clients may send null for omitted fields. */

const optional = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .optional();

const names = z.array(z.string()).max(1_000).readonly();

export const searchRequest = z.object({
  query: z.string(),
  top: optional(z.int()),
  /** The document must have all of these tags. */
  tags: optional(names),
  doc_type: optional(z.string()),
  fts_only: optional(z.boolean()),
  vec_only: optional(z.boolean()),
  /** Min relevance of a hit. Replaces the default rule, which omits weak hits. */
  threshold: optional(z.number()),
  include_weak: optional(z.boolean()),
  /** How many chunks before and after each hit to include. */
  neighbours: optional(z.int()),
  /** Number of hits to skip. Skipped hits count towards `top`. */
  offset: optional(z.int()),
});

export const tagChange = z.object({ add: optional(names), remove: optional(names) });
export const move = z.object({ source_path: z.string() });
export const note = z.object({ text: z.string() });

/** Selects documents that meet all conditions. A selection without conditions is rejected. */
export const selection = z.object({
  document_ids: optional(z.array(z.int()).readonly()),
  tags: optional(names),
  doc_type: optional(z.string()),
  from_id: optional(z.int()),
  to_id: optional(z.int()),
  /** True to proceed even if more than the safety percentage of all documents would change. */
  force: optional(z.boolean()),
});

export const bulkTags = selection.extend(tagChange.shape);

/** Which tags are removed unless they are in `add`: the collection tags, or all tags that are not collection tags. */
const replaces = z.enum(['collections', 'non_collections'], { error: 'must be collections or non_collections' });

export const bulkReplaceTags = bulkTags.extend({ replaces });

/** With `set_tags`, `tags` selects the documents; without it, `tags` are the new tags. */
export const bulkSetTags = selection
  .extend({ set_tags: optional(names) })
  .refine(({ tags, set_tags: newTags }) => Boolean(tags ?? newTags), { path: ['set_tags'], error: 'is required' });

export type EngineSearch = z.output<typeof searchRequest>;
export type TagChange = z.output<typeof tagChange>;
export type BulkTagChange = TagChange & { replaces?: z.output<typeof replaces> | undefined };
export type BulkSelection = z.output<typeof selection>;
