import * as z from 'zod';
import { CarrelError } from '../../../base/errors.ts';
import { freeAnswer } from '../../../tools/free-answer.ts';
import { type Budgeted, budgetInput, fitBudget } from '../../../tools/token-budget.ts';
import { defineTool, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { emptyHint } from '../search/empty-hint.ts';
import { grepEntries } from '../search/grep-entries.ts';
import { pastWarnings } from '../search/past-warnings.ts';
import { asOfInput, filterInput, parseFilters } from '../search/search-input.ts';

/** Rows are shown whole or left out; get_context_by_ids has the entry. */
const wholeRows: Budgeted<{ context_id: number }, number> = {
  id: ({ context_id: id }) => id,
  text: () => '',
  withText: (row) => row,
  next: () => '',
};

function tryOf(input: { case_sensitive: boolean; is_regex: boolean }, scanned: number): string {
  const said = [
    input.case_sensitive && 'case_sensitive=false finds other capitals',
    !input.is_regex && 'is_regex=true takes an expression',
    'fts_search_context finds words in any form',
  ].filter((part) => typeof part === 'string');
  return `The pattern is on no line of ${scanned} entries: ${said.join(', ')}.`;
}

export function createGrepContextTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'grep_context',
    title: 'Grep Context',
    description:
      'Finds an exact text or a JavaScript regular expression, line by line, oldest entries first. Filters are those of search_context.',
    effect: 'read',
    input: z.object({
      pattern: z.string().min(1).max(1000),
      is_regex: z.boolean().default(false),
      case_sensitive: z.boolean().default(true),
      output_mode: z.enum(['content', 'files_with_matches', 'count']).default('content'),
      context_lines: z.int().min(0).max(20).default(0),
      max_matches: z.int().min(1).max(1000).default(100),
      max_entries_scanned: z.int().min(1).max(100_000).default(10_000),
      ...filterInput,
      ...asOfInput,
      ...budgetInput,
    }),
    output: freeAnswer(
      'mode, total_matches, entries_scanned, truncated (there may be more), results, hint?, budget?, warnings?, timed_out_context_ids?',
    ),
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
      const { items: shown, report } = fitBudget<{ context_id: number }, number>(
        results,
        input.budget_tokens,
        wholeRows,
      );
      return {
        mode: input.output_mode,
        total_matches: total,
        entries_scanned: scanned,
        truncated: truncated || shown.length < results.length,
        results: shown,
        ...report,
        ...(await emptyHint(entries, found, { filter, tryThis: tryOf(input, scanned) }, signal)),
        ...(await pastWarnings(entries, filter, 'read', signal)),
        ...(timedOutIds.length > 0 ? { timed_out_context_ids: [...timedOutIds] } : {}),
      };
    },
  });
}
