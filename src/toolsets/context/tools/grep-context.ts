import { z } from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { grepEntries } from '../grep-entries.ts';
import { filterInput, parseFilters } from '../search-input.ts';

const contentShape = z.object({
  context_id: z.int(),
  line_number: z.int(),
  line: z.string(),
  match_start: z.int(),
  match_end: z.int(),
  before: z.array(z.string()),
  after: z.array(z.string()),
});

export function createGrepContextTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'grep_context',
    title: 'Grep Context',
    description:
      'Finds an exact text or a regular expression, line by line, in the order of the entries. For words and meaning use hybrid_search_context.',
    effect: 'read',
    input: z.object({
      pattern: z.string().min(1).max(1000),
      is_regex: z.boolean().default(false).describe('The pattern is a regular expression (JavaScript syntax).'),
      case_sensitive: z.boolean().default(true),
      output_mode: z.enum(['content', 'files_with_matches', 'count']).default('content'),
      context_lines: z.int().min(0).max(20).default(0).describe('Lines before and after each match.'),
      max_matches: z.int().min(1).max(1000).default(100),
      max_entries_scanned: z.int().min(1).max(100_000).default(10_000),
      ...filterInput,
    }),
    output: z.object({
      mode: z.string(),
      total_matches: z.int(),
      entries_scanned: z.int(),
      truncated: z.boolean().describe('More might be found: a bound of matches, entries or time was reached.'),
      results: z.array(
        z.union([
          contentShape,
          z.object({ context_id: z.int(), match_count: z.int() }),
          z.object({ context_id: z.int(), count: z.int() }),
        ]),
      ),
      timed_out_context_ids: z.array(z.int()).optional().describe('Entries on which the pattern took too long.'),
    }),
    async run(input, { signal }) {
      const { filter, faults } = parseFilters(input);
      if (faults.length > 0) throw new CarrelError('invalid_arguments', faults.join('; '));
      const {
        entries: found,
        scanned,
        truncated,
        timedOutIds,
      } = await grepEntries(entries, {
        pattern: {
          pattern: input.pattern,
          isRegex: input.is_regex,
          caseSensitive: input.case_sensitive,
          contextLines: input.context_lines,
          matchesMax: input.max_matches,
        },
        filter,
        entriesMax: input.max_entries_scanned,
        signal,
      });
      const total = found.reduce((sum, { matches }) => sum + matches.length, 0);
      const results =
        input.output_mode === 'content'
          ? found.flatMap(({ id, matches }) => matches.map((match) => ({ context_id: id, ...match })))
          : input.output_mode === 'count'
            ? found.map(({ id, matches }) => ({ context_id: id, count: matches.length }))
            : found.map(({ id, matches }) => ({ context_id: id, match_count: matches.length }));
      return {
        mode: input.output_mode,
        total_matches: total,
        entries_scanned: scanned,
        truncated,
        results,
        ...(timedOutIds.length > 0 ? { timed_out_context_ids: [...timedOutIds] } : {}),
      };
    },
  });
}
