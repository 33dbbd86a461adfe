import { itemBytesMax } from '../../../answers/answer-limit.ts';
import { type BudgetReport, type BudgetRules, fitBudget } from '../../../answers/token-budget.ts';
import { countCharacters } from '../../../base/text.ts';
import { fittingUnits, wireBytes } from '../../../base/wire-bytes.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { Call } from '../../../tools/call.ts';
import { imageUri } from './entry-shapes.ts';

/** Max bytes of entries loaded at a time. A whole page may have a hundred times as many. */
export const batchBytes = 4 * 1024 * 1024;

interface ShownEntry {
  readonly id: number;
  readonly text_content: string;
  readonly metadata: unknown;
  readonly images?: unknown;
  readonly highlighted?: string;
}

interface FitRequest<Shown> {
  readonly images: boolean;
  readonly asOf?: string | undefined;
  /** Max characters to load of each text. */
  readonly textChars?: number | undefined;
  readonly order: 'requested' | 'newest';
  show(entry: Entry, bytesLeft: number): Shown | Promise<Shown>;
  /** The caller's arguments. Follow-up calls repeat `as_of`. */
  readonly input: { readonly budget_tokens?: number | undefined; readonly as_of?: string | undefined };
}

/** A page whose first entries are loaded, with the ids of the rest. */
interface LoadedPage {
  readonly entries: readonly Entry[];
  readonly remainingIds: readonly number[];
}

/**
 * Loads and shows as many entries as fit the answer's bytes and the caller's token budget. `found` has the ids of the
 * entries that fit the bytes, `omitted` those of the others. `report` has the answer's fields about omitted and
 * truncated entries.
 */
export async function fitAnswer<Shown extends ShownEntry>(
  entries: EntryStore,
  source: readonly number[] | LoadedPage,
  { images, asOf, textChars, order, show, input }: FitRequest<Shown>,
  call: Call,
) {
  const bytesMax = itemBytesMax(call);
  const fitting: Shown[] = [];
  const omitted: number[] = [];
  const cut: BudgetReport<number>['cut'] = [];
  const withoutImages = new Set<number>();
  let used = 0;
  let batch: LoadedPage = 'remainingIds' in source ? source : { entries: [], remainingIds: source };
  for (;;) {
    for (const entry of batch.entries) {
      if (omitted.length > 0) {
        omitted.push(entry.id);
        continue;
      }
      let shown = await show(entry, bytesMax - used);
      if (images && entry.contentType === 'multimodal' && entry.images === undefined) withoutImages.add(entry.id);
      if (fitting.length === 0 && wireBytes(shown, 2, bytesMax) > bytesMax) {
        if (shown.images !== undefined) withoutImages.add(shown.id);
        shown = shortenEntry(shown, entry, bytesMax, input, cut);
      }
      used += wireBytes(shown, 2, bytesMax);
      if (used > bytesMax) omitted.push(entry.id);
      else fitting.push(shown);
    }
    if (omitted.length > 0) omitted.push(...batch.remainingIds);
    if (omitted.length > 0 || batch.remainingIds.length === 0) break;
    batch = await entries.load({ ids: batch.remainingIds, images, asOf, textChars, order, bytesMax: batchBytes }, call);
  }
  const { entries: results, report } = fitEntries(fitting, input.budget_tokens, input);
  const missingImages = results.flatMap(({ id }) => (withoutImages.has(id) ? [imageUri(id, 0)] : []));
  const hints = [
    omitted.length > 0 &&
      `The answer is full: ${omitted.length} more entries are in omitted_ids; omitted_next returns them.`,
    cut.length > 0 && 'An entry is too long for one answer: the field cut says how to continue.',
    missingImages.length > 0 &&
      `Images that are too large for an answer are resources: read ${missingImages.join(', ')} and so on.`,
  ].filter((hint) => typeof hint === 'string');
  return {
    results,
    found: fitting.map(({ id }) => id),
    omitted,
    report: {
      ...report,
      ...(hints.length > 0 ? { truncated: true } : {}),
      ...(omitted.length > 0 ? { omitted_ids: omitted, omitted_next: callForEntries(omitted, input) } : {}),
      ...(cut.length > 0 ? { cut } : {}),
      ...(hints.length > 0 ? { hint: hints.join(' ') } : {}),
    },
  };
}

interface AsOf {
  readonly as_of?: string | undefined;
}

function callForEntries(ids: readonly number[], input: AsOf): string {
  return `get_context_by_ids(context_ids=[${ids.join(', ')}]${asOfArgument(input)})`;
}

function callForText(id: number, chars: number, input: AsOf): string {
  return `read_context_range(context_id=${id}, start_char=${chars}${asOfArgument(input)})`;
}

function asOfArgument({ as_of: asOf }: AsOf): string {
  return asOf === undefined ? '' : `, as_of=${JSON.stringify(asOf)}`;
}

/** Bytes reserved for the note in `cut` about a shortened entry. */
const noteBytes = 1_024;

/** Removes images and the highlighted copy. If the entry is still too long, truncates its text and adds a note to `cut`. */
function shortenEntry<Shown extends ShownEntry>(
  shown: Shown,
  entry: Entry,
  bytesMax: number,
  input: AsOf,
  cut: BudgetReport<number>['cut'],
): Shown {
  const { images: _images, highlighted: _highlighted, ...rest } = shown;
  const shortened = rest as Shown;
  if (wireBytes(shortened, 2, bytesMax) <= bytesMax) return shortened;
  const withoutText = { ...shortened, text_content: '' };
  // Metadata has at most a megabyte, but may need many times as much once escaped.
  const base = wireBytes(withoutText, 2, bytesMax) > bytesMax ? { ...withoutText, metadata: null } : withoutText;
  const units = fittingUnits(entry.text, 2, bytesMax - noteBytes - wireBytes(base, 2));
  const text = entry.text.slice(0, units);
  const chars = countCharacters(text);
  cut.push({
    id: shown.id,
    returned_chars: chars,
    total_chars: countCharacters(entry.text),
    next: callForText(shown.id, chars, input),
  });
  return { ...base, text_content: text };
}

/** Returns as many entries as fit the token budget. The report has the calls that return the others. */
export function fitEntries<Item extends Pick<ShownEntry, 'id' | 'text_content'>>(
  entries: readonly Item[],
  budget: number | undefined,
  input: AsOf = {},
): { entries: Item[]; report: { budget?: BudgetReport<number> & { omitted_next?: string } } } {
  const budgetedEntry: BudgetRules<Item, number> = {
    id: ({ id }) => id,
    text: (entry) => entry.text_content,
    withText: (entry, text) => ({ ...entry, text_content: text }),
    next: ({ id }, chars) => callForText(id, chars, input),
    // Images don't count: their token cost depends on the model.
    counted: ({ images: _, ...rest }: Item & { images?: unknown }) => rest,
  };
  const { items, report } = fitBudget(entries, budget, budgetedEntry);
  const omitted = report.budget?.omitted_ids ?? [];
  if (report.budget === undefined || omitted.length === 0) return { entries: items, report };
  return { entries: items, report: { budget: { ...report.budget, omitted_next: callForEntries(omitted, input) } } };
}
