import { type Budgeted, type BudgetReport, fitBudget as fit } from '../../../answers/token-budget.ts';

export { budgetInput } from '../../../answers/token-budget.ts';

interface Entry {
  readonly id: number;
  readonly text_content: string;
}

export interface EntryBudget extends BudgetReport<number> {
  /** The call that returns the omitted entries. */
  omitted_next?: string;
}

/**
 * Returns as many entries as fit. The report has the calls for what is missing: get_context_by_ids for omitted
 * entries, read_context_range for the rest of a truncated one.
 */
export function fitBudget<Item extends Entry>(
  entries: readonly Item[],
  budget: number | undefined,
  then: { readonly as_of?: string | undefined } = {},
): { entries: Item[]; report: { budget?: EntryBudget } } {
  const past = then.as_of === undefined ? '' : `, as_of=${JSON.stringify(then.as_of)}`;
  const shape: Budgeted<Item, number> = {
    id: ({ id }) => id,
    text: (entry) => entry.text_content,
    withText: (entry, text) => ({ ...entry, text_content: text }),
    next: ({ id }, chars) => `read_context_range(context_id=${id}, start_char=${chars}${past})`,
    // Images don't count: their token cost depends on the model.
    paid: ({ images: _, ...rest }: Item & { images?: unknown }) => rest,
  };
  const { items, report } = fit(entries, budget, shape);
  const omitted = report.budget?.omitted_ids ?? [];
  if (report.budget === undefined || omitted.length === 0) return { entries: items, report };
  const next = `get_context_by_ids(context_ids=[${omitted.join(', ')}]${past})`;
  return { entries: items, report: { budget: { ...report.budget, omitted_next: next } } };
}
