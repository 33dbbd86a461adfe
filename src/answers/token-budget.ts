import * as z from 'zod';
import { estimateTokens } from './token-estimate.ts';

export const budgetInput = {
  budget_tokens: z.int().min(100).max(1_000_000).optional(),
};

/** What an answer under a budget reports about itself. */
export interface BudgetReport<Id> {
  budget_tokens: number;
  /** Estimated. */
  used_tokens: number;
  /** Ids of the items that did not fit. */
  omitted_ids: Id[];
  /** Items whose text was truncated, and the call that returns the rest. */
  cut: { id: Id; returned_chars: number; total_chars: number; next: string }[];
  /** Said if not even one item fits. */
  hint?: string;
}

/** How the items of an answer are measured and truncated. */
export interface Budgeted<Item, Id> {
  id(item: Item): Id;
  text(item: Item): string;
  withText(item: Item, text: string): Item;
  /** The call that returns what follows after this many characters. */
  next(item: Item, chars: number): string;
  /** The part of an item that counts; all of it by default. */
  paid?(item: Item): object;
}

const tooSmall = 'The budget is too small for one result: this is the best one, as short as it gets.';

/** Items in order while they fit. The first that does not is truncated, if enough of it remains to be worth reading. */
export function fitBudget<Item extends object, Id>(
  items: readonly Item[],
  budget: number | undefined,
  shape: Budgeted<Item, Id>,
): { items: Item[]; report: { budget?: BudgetReport<Id> } } {
  if (budget === undefined) return { items: [...items], report: {} };
  const costOf = (item: Item): number => estimateTokens(JSON.stringify(shape.paid?.(item) ?? item));
  const kept: Item[] = [];
  const cut: BudgetReport<Id>['cut'] = [];
  let used = 0;
  for (const item of items) {
    const cost = costOf(item);
    if (used + cost <= budget) {
      kept.push(item);
      used += cost;
      continue;
    }
    const room = budget - used - costOf(shape.withText(item, ''));
    // The best one comes whatever it costs: an empty answer would mean that there is none.
    const isFirst = kept.length === 0;
    const shortened = cutText(item, isFirst ? Math.max(room, worthReadingTokens) : room, shape);
    if (shortened !== undefined) cut.push(shortened.note);
    const last = shortened?.item ?? (isFirst ? item : undefined);
    if (last !== undefined) {
      kept.push(last);
      used += costOf(last);
    }
    break;
  }
  const omitted = items.slice(kept.length).map(shape.id);
  const hint = used > budget ? { hint: tooSmall } : {};
  return {
    items: kept,
    report: { budget: { budget_tokens: budget, used_tokens: used, omitted_ids: omitted, cut, ...hint } },
  };
}

const worthReadingTokens = 40;

function cutText<Item, Id>(item: Item, tokens: number, shape: Budgeted<Item, Id>) {
  const characters = Array.from(shape.text(item));
  const cost = estimateTokens(shape.text(item));
  if (tokens < worthReadingTokens || cost <= tokens) return undefined;
  // Token density varies within a text, so a little less than the computed share is taken.
  const chars = Math.floor(characters.length * (tokens / cost) * 0.9);
  return {
    item: shape.withText(item, characters.slice(0, chars).join('')),
    note: {
      id: shape.id(item),
      returned_chars: chars,
      total_chars: characters.length,
      next: shape.next(item, chars),
    },
  };
}
