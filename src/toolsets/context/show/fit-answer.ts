import { itemBytesMax } from '../../../answers/answer-limit.ts';
import type { BudgetReport } from '../../../answers/token-budget.ts';
import { countCharacters } from '../../../base/text.ts';
import { fittingUnits, wireBytes } from '../../../base/wire-bytes.ts';
import type { Entry } from '../../../storage/entries/entry.ts';
import type { Call } from '../../../tools/call.ts';
import { type Collected, type Collecting, collectEntries } from './collect-entries.ts';
import { type EntryBudget, fitBudget } from './entry-budget.ts';
import { imageUri } from './entry-resources.ts';

interface ShownEntry {
  readonly id: number;
  readonly text_content: string;
  readonly metadata: unknown;
  readonly images?: unknown;
  readonly highlighted?: string;
}

/** Fields of an answer about omitted and incomplete entries. */
export interface LeftOut {
  truncated?: true;
  omitted_ids?: number[];
  /** The call that returns the omitted entries. */
  omitted_next?: string;
  /** Incomplete entries, and how to read the rest. */
  cut?: BudgetReport<number>['cut'];
  hint?: string;
}

export interface Fitted<Shown> {
  readonly results: Shown[];
  readonly omitted: readonly number[];
  /** Ids of the entries that fit the answer's bytes, before the token budget is applied. */
  readonly found: readonly number[];
  readonly report: LeftOut & { budget?: EntryBudget };
}

export interface FitRequest<Shown> extends Omit<Collecting<Shown>, 'bytesMax' | 'shorten' | 'asOf'> {
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
  const { entries: results, report } = fitBudget(collected.shown, input.budget_tokens, input);
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
