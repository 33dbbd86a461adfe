import * as z from 'zod';
import { itemBytesMax } from '../../../answers/answer-limit.ts';
import { type BudgetRules, budgetInput, fitBudget } from '../../../answers/token-budget.ts';
import { CarrelError } from '../../../base/errors.ts';
import { defineTool, looseOutput, type Tool } from '../../../tools/tool.ts';
import type { ContextParts } from '../context-parts.ts';
import { grepEntries, type MatchPosition } from '../grep/grep-entries.ts';
import { emptyHint } from '../search/hints.ts';
import { historyWarnings } from '../search/search-answer.ts';
import { asOfInput, filterInput, parseFilters } from '../search/search-input.ts';

/** Rows are never truncated, only omitted. */
const untruncatedRows: BudgetRules<{ context_id: number }, number> = {
  id: ({ context_id: id }) => id,
  text: () => '',
  withText: (row) => row,
  next: () => '',
};

function adviceFor(input: { case_sensitive: boolean; is_regex: boolean }, scanned: number): string {
  const options = [
    input.case_sensitive && 'case_sensitive=false',
    !input.is_regex && 'is_regex=true',
    'fts_search_context, which finds all forms of a word',
  ].filter((part) => typeof part === 'string');
  return `No line in ${scanned} entries matches. Try ${options.join(' or ')}.`;
}

/** Parses a cursor: the entry, line and match to continue from. */
function parseCursor(cursor: string | undefined): MatchPosition | undefined {
  if (cursor === undefined) return undefined;
  const [, id, line, skip] = /^([1-9]\d{0,14}):([1-9]\d{0,9}):(\d{1,10})$/.exec(cursor) ?? [];
  if (id === undefined) throw new CarrelError('invalid_cursor', 'cursor must be the next_cursor of an earlier answer.');
  return { id: Number(id), line: Number(line), skip: Number(skip) };
}

export function createGrepContextTool({ entries }: Pick<ContextParts, 'entries'>): Tool {
  return defineTool({
    name: 'grep_context',
    title: 'Grep Context',
    description:
      'Finds lines in memory entries by exact text or JavaScript regular expression, oldest entries first. To match all forms of a word, use fts_search_context.',
    effect: 'read',
    input: z.object({
      pattern: z.string().min(1).max(1000),
      is_regex: z.boolean().default(false),
      case_sensitive: z.boolean().default(true),
      output_mode: z.enum(['content', 'files_with_matches', 'count']).default('content'),
      context_lines: z.int().min(0).max(20).default(0),
      max_matches: z.int().min(1).max(1000).default(100),
      cursor: z.string().max(100).optional().describe('next_cursor of the previous answer.'),
      max_entries_scanned: z.int().min(1).max(100_000).default(10_000),
      ...filterInput,
      ...asOfInput,
      ...budgetInput,
    }),
    output: looseOutput(
      'mode, total_matches, entries_scanned, truncated (there may be more), results, next_cursor?, hint?, budget?, warnings?, timed_out_context_ids?',
    ),
    async run(input, call) {
      const { signal } = call;
      const { filter, faults } = parseFilters(input);
      if (faults.length > 0) throw new CarrelError('invalid_arguments', faults.join('; '));
      const search = {
        pattern: {
          pattern: input.pattern,
          isRegex: input.is_regex,
          caseSensitive: input.case_sensitive,
          contextLines: input.context_lines,
        },
        matchesMax: input.max_matches,
        // The remaining bytes are for ids.
        bytesMax: 0.9 * itemBytesMax(call),
        from: parseCursor(input.cursor),
        filter,
        entriesMax: input.max_entries_scanned,
        signal,
      };
      const { entries: found, scanned, next, timedOutIds } = await grepEntries(entries, search);
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
        untruncatedRows,
      );
      return {
        mode: input.output_mode,
        total_matches: total,
        entries_scanned: scanned,
        truncated: next !== undefined || timedOutIds.length > 0 || shown.length < results.length,
        results: shown,
        ...(next === undefined ? {} : { next_cursor: `${next.id}:${next.line}:${next.skip}` }),
        ...report,
        ...(await emptyHint(entries, found, { filter, advice: adviceFor(input, scanned) }, signal)),
        ...(await historyWarnings(entries, filter, 'read', signal)),
        ...(timedOutIds.length > 0 ? { timed_out_context_ids: [...timedOutIds] } : {}),
      };
    },
  });
}
