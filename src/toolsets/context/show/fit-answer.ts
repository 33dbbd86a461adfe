import { itemBytesMax } from '../../../answers/answer-limit.ts';
import { type Budgeted, type BudgetReport, fitBudget } from '../../../answers/token-budget.ts';
import { countCharacters } from '../../../base/text.ts';
import { fittingUnits, wireBytes } from '../../../base/wire-bytes.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import type { EntryStore } from '../../../storage/entries/entry-store.ts';
import type { Call } from '../../../tools/call.ts';
import { imageUri } from './entry-resources.ts';

interface ShownEntry {
  readonly id: number;
  readonly text_content: string;
  readonly metadata: unknown;
  readonly images?: unknown;
  readonly highlighted?: string;
}

/** Fields of an answer about omitted and incomplete entries. */
interface LeftOut {
  truncated?: true;
  omitted_ids?: number[];
  /** The call that returns the omitted entries. */
  omitted_next?: string;
  /** Incomplete entries, and how to read the rest. */
  cut?: BudgetReport<number>['cut'];
  hint?: string;
}

interface Fitted<Shown> {
  readonly results: Shown[];
  readonly omitted: readonly number[];
  /** Ids of the entries that fit the answer's bytes, before the token budget is applied. */
  readonly found: readonly number[];
  readonly report: LeftOut & { budget?: EntryBudget };
}

interface FitRequest<Shown> extends Omit<Collecting<Shown>, 'bytesMax' | 'shorten' | 'asOf'> {
  readonly asOf?: string | undefined;
  /** The caller's arguments, repeated in follow-up calls. */
  readonly input: { readonly budget_tokens?: number | undefined; readonly as_of?: string | undefined };
}

/** Returns as many entries as fit the answer's bytes and the caller's token budget. */
export async function fitAnswer<Shown extends ShownEntry>(
  entries: Parameters<typeof collectEntries>[0],
  source: Parameters<typeof collectEntries>[1],
  request: FitRequest<Shown>,
  call: Call,
): Promise<Fitted<Shown>> {
  const { input, images } = request;
  const past = input.as_of === undefined ? '' : `, as_of=${JSON.stringify(input.as_of)}`;
  const cut: BudgetReport<number>['cut'] = [];
  const pictures: number[] = [];
  const collected: Collected<Shown> = await collectEntries(
    entries,
    source,
    {
      ...request,
      bytesMax: itemBytesMax(call),
      async show(entry, left) {
        const shown = await request.show(entry, left);
        if (images && entry.contentType === 'multimodal' && entry.images === undefined) pictures.push(entry.id);
        return shown;
      },
      shorten(shown, entry, bytesMax) {
        if (shown.images !== undefined) pictures.push(shown.id);
        return shortenEntry(shown, entry, bytesMax, past, cut);
      },
    },
    call,
  );
  const { entries: results, report } = fitEntries(collected.shown, input.budget_tokens, input);
  const shownIds = new Set(results.map(({ id }) => id));
  const unseen = pictures.filter((id) => shownIds.has(id));
  const { omitted } = collected;
  const found = collected.shown.map(({ id }) => id);
  if (omitted.length === 0 && cut.length === 0 && unseen.length === 0) return { results, omitted, found, report };
  const next = `get_context_by_ids(context_ids=[${omitted.join(', ')}]${past})`;
  const hints = [
    omitted.length > 0 &&
      `The answer is full: ${omitted.length} more entries are in omitted_ids; omitted_next returns them.`,
    cut.length > 0 && 'An entry is too long for one answer: the field cut says how to continue.',
    unseen.length > 0 &&
      `Images that are too large for an answer are resources: read ${unseen.map((id) => imageUri(id, 0)).join(', ')} and so on.`,
  ];
  return {
    results,
    omitted,
    found,
    report: {
      ...report,
      truncated: true,
      ...(omitted.length > 0 ? { omitted_ids: [...omitted], omitted_next: next } : {}),
      ...(cut.length > 0 ? { cut } : {}),
      hint: hints.filter((hint) => typeof hint === 'string').join(' '),
    },
  };
}

/** Bytes reserved for the note in `cut` about a shortened entry. */
const noteBytes = 1_024;

function shortenEntry<Shown extends ShownEntry>(
  shown: Shown,
  entry: Entry,
  bytesMax: number,
  past: string,
  cut: BudgetReport<number>['cut'],
): Shown {
  const { images: _images, highlighted: _highlighted, ...small } = shown;
  // Without images or the highlighted copy, most entries fit.
  const whole = small as Shown;
  if (wireBytes(whole, 2, bytesMax) <= bytesMax) return whole;
  const bare = { ...whole, text_content: '' };
  // Metadata has at most a megabyte, but may need many times as much once escaped.
  const base = wireBytes(bare, 2, bytesMax) > bytesMax ? { ...bare, metadata: null } : bare;
  const units = fittingUnits(entry.text, 2, bytesMax - noteBytes - wireBytes(base, 2));
  const text = entry.text.slice(0, units);
  const chars = countCharacters(text);
  cut.push({
    id: shown.id,
    returned_chars: chars,
    total_chars: countCharacters(entry.text),
    next: `read_context_range(context_id=${shown.id}, start_char=${chars}${past})`,
  });
  return { ...base, text_content: text };
}

/** Max bytes of entries loaded at a time. A whole page may have a hundred times as many. */
export const batchBytes = 4 * 1024 * 1024;

interface Collected<Shown> {
  readonly shown: Shown[];
  /** Ids of entries that did not fit. */
  readonly omitted: number[];
}

interface Collecting<Shown> {
  readonly images: boolean;
  readonly asOf?: string | undefined;
  /** Max characters to load of each text. */
  readonly textChars?: number | undefined;
  readonly order: 'given' | 'newest';
  /** Max bytes of entries in the answer. */
  readonly bytesMax: number;
  /** Renders an entry. `left` is the number of bytes left in the answer. */
  show(entry: Entry, left: number): Shown | Promise<Shown>;
  /** Returns a shorter form of the first entry. Called if the whole entry does not fit into an answer. */
  shorten(shown: Shown, entry: Entry, bytesMax: number): Shown;
}

/** A page whose first entries are loaded, with the ids of the rest. */
interface LoadedPage {
  readonly entries: readonly Entry[];
  readonly rest: readonly number[];
}

/** Loads and renders entries in batches while the answer has space. */
async function collectEntries<Shown>(
  entries: EntryStore,
  source: readonly number[] | LoadedPage,
  { images, asOf, textChars, order, bytesMax, show, shorten }: Collecting<Shown>,
  { signal }: Pick<Call, 'signal'>,
): Promise<Collected<Shown>> {
  const shown: Shown[] = [];
  let used = 0;
  let batch: LoadedPage = 'rest' in source ? source : { entries: [], rest: source };
  for (;;) {
    for (const [index, entry] of batch.entries.entries()) {
      let next: Shown = await show(entry, bytesMax - used);
      let bytes = wireBytes(next, 2, bytesMax);
      if (shown.length === 0 && bytes > bytesMax) {
        next = shorten(next, entry, bytesMax);
        bytes = wireBytes(next, 2, bytesMax);
      }
      used += bytes;
      if (used > bytesMax) {
        const left = batch.entries.slice(index).map(({ id }) => id);
        return { shown, omitted: [...left, ...batch.rest] };
      }
      shown.push(next);
    }
    if (batch.rest.length === 0) return { shown, omitted: [] };
    batch = await entries.load({ ids: batch.rest, images, asOf, textChars, order, bytesMax: batchBytes }, { signal });
  }
}

interface EntryBudget extends BudgetReport<number> {
  /** The call that returns the omitted entries. */
  omitted_next?: string;
}

/**
 * Returns as many entries as fit. The report has the calls for what is missing: get_context_by_ids for omitted
 * entries, read_context_range for the rest of a truncated one.
 */
export function fitEntries<Item extends Pick<ShownEntry, 'id' | 'text_content'>>(
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
    counted: ({ images: _, ...rest }: Item & { images?: unknown }) => rest,
  };
  const { items, report } = fitBudget(entries, budget, shape);
  const omitted = report.budget?.omitted_ids ?? [];
  if (report.budget === undefined || omitted.length === 0) return { entries: items, report };
  const next = `get_context_by_ids(context_ids=[${omitted.join(', ')}]${past})`;
  return { entries: items, report: { budget: { ...report.budget, omitted_next: next } } };
}
