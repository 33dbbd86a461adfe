import * as z from 'zod';
import { estimateTokens } from '../../tools/token-estimate.ts';

export const budgetInput = {
  budget_tokens: z.int().min(100).max(1_000_000).optional().describe('Cut the answer to about so many tokens.'),
};

/** What an answer under a budget says about itself. */
export interface BudgetReport {
  budget_tokens: number;
  /** Estimated. */
  used_tokens: number;
  /** Entries that did not fit: get_context_by_ids has them. */
  omitted_ids: number[];
  /** Entries whose text was cut, and the call that gives the rest. */
  cut: { id: number; returned_chars: number; total_chars: number; next: string }[];
}

interface Budgeted {
  readonly id: number;
  readonly text_content: string;
}

/** Entries in order while they fit. The first that does not is cut, where enough of it remains to be worth reading. */
export function fitBudget<Item extends Budgeted>(
  entries: readonly Item[],
  budget: number | undefined,
  then: { readonly as_of?: string | undefined } = {},
): { entries: Item[]; report: { budget?: BudgetReport } } {
  if (budget === undefined) return { entries: [...entries], report: {} };
  const kept: Item[] = [];
  const cut: BudgetReport['cut'] = [];
  let used = 0;
  let full = false;
  for (const entry of entries) {
    const cost = costOf(entry);
    if (!full && used + cost <= budget) {
      kept.push(entry);
      used += cost;
      continue;
    }
    if (full) continue;
    full = true;
    const shortened = cutText(entry, budget - used - costOf({ ...entry, text_content: '' }), then.as_of);
    if (shortened === undefined) continue;
    kept.push(shortened.entry);
    cut.push(shortened.note);
    used += costOf(shortened.entry);
  }
  const ids = new Set(kept.map(({ id }) => id));
  const omitted = entries.map(({ id }) => id).filter((id) => !ids.has(id));
  return { entries: kept, report: { budget: { budget_tokens: budget, used_tokens: used, omitted_ids: omitted, cut } } };
}

const worthReadingTokens = 40;

function cutText<Item extends Budgeted>(entry: Item, tokens: number, asOf: string | undefined) {
  const total = Array.from(entry.text_content).length;
  const cost = estimateTokens(entry.text_content);
  if (tokens < worthReadingTokens || cost <= tokens) return undefined;
  // Texts are uneven, so the share that should fit is taken with some room.
  const chars = Math.floor(total * (tokens / cost) * 0.9);
  const text = Array.from(entry.text_content).slice(0, chars).join('');
  const past = asOf === undefined ? '' : `, as_of=${JSON.stringify(asOf)}`;
  const next = `read_context_range(context_id=${entry.id}, start_char=${chars}${past})`;
  return {
    entry: { ...entry, text_content: text },
    note: { id: entry.id, returned_chars: chars, total_chars: total, next },
  };
}

/** Images are for eyes; what a model pays for them depends on it, so they are not counted. */
function costOf(entry: Budgeted): number {
  const { images: _, ...rest } = { images: undefined, ...entry };
  return estimateTokens(JSON.stringify(rest));
}
