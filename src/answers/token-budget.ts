import * as z from 'zod';
import { estimateTokens } from './token-estimate.ts';

export const budgetInput = {
  budget_tokens: z.int().min(100).max(1_000_000).optional(),
};

/** The `budget` field of an answer. */
export interface BudgetReport<Id> {
  budget_tokens: number;
  /** Estimated. */
  used_tokens: number;
  /** Ids of items that did not fit. */
  omitted_ids: Id[];
  /** Truncated items, each with the call that returns the rest. */
  cut: { id: Id; returned_chars: number; total_chars: number; next: string }[];
  /** Set if the budget is too small for one item. */
  hint?: string;
}

/** How items are measured and truncated. */
export interface BudgetRules<Item, Id> {
  id(item: Item): Id;
  text(item: Item): string;
  withText(item: Item, text: string): Item;
  /** The tool call that returns the text after this many characters. */
  next(item: Item, chars: number): string;
  /** The part of an item that counts against the budget; by default the whole item. */
  counted?(item: Item): object;
}

const tooSmall = 'The budget is too small for one result; this is the best one, truncated.';

/**
 * Returns the first items that fit the budget. The next item is truncated if enough of its text fits, and omitted
 * otherwise.
 */
export function fitBudget<Item extends object, Id>(
  items: readonly Item[],
  budget: number | undefined,
  rules: BudgetRules<Item, Id>,
): { items: Item[]; report: { budget?: BudgetReport<Id> } } {
  if (budget === undefined) return { items: [...items], report: {} };
  const costOf = (item: Item): number => estimateTokens(JSON.stringify(rules.counted?.(item) ?? item));
  const fitting: Item[] = [];
  const cut: BudgetReport<Id>['cut'] = [];
  let used = 0;
  for (const item of items) {
    const cost = costOf(item);
    if (used + cost <= budget) {
      fitting.push(item);
      used += cost;
      continue;
    }
    const tokensLeft = budget - used - costOf(rules.withText(item, ''));
    // Always include the best item: an empty answer would look as if nothing was found.
    const isFirst = fitting.length === 0;
    const shortened = shortenItem(item, isFirst ? Math.max(tokensLeft, truncatedTokensMin) : tokensLeft, rules);
    if (shortened !== undefined) cut.push(shortened.note);
    const last = shortened?.item ?? (isFirst ? item : undefined);
    if (last !== undefined) {
      fitting.push(last);
      used += costOf(last);
    }
    break;
  }
  const omitted = items.slice(fitting.length).map(rules.id);
  const hint = used > budget ? { hint: tooSmall } : {};
  return {
    items: fitting,
    report: { budget: { budget_tokens: budget, used_tokens: used, omitted_ids: omitted, cut, ...hint } },
  };
}

/** Min tokens of a truncated text. */
const truncatedTokensMin = 40;

function shortenItem<Item, Id>(item: Item, tokens: number, rules: BudgetRules<Item, Id>) {
  const characters = Array.from(rules.text(item));
  const cost = estimateTokens(rules.text(item));
  if (tokens < truncatedTokensMin || cost <= tokens) return undefined;
  // Token density varies within a text, so take slightly less than computed.
  const chars = Math.floor(characters.length * (tokens / cost) * 0.9);
  return {
    item: rules.withText(item, characters.slice(0, chars).join('')),
    note: {
      id: rules.id(item),
      returned_chars: chars,
      total_chars: characters.length,
      next: rules.next(item, chars),
    },
  };
}
