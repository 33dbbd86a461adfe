import type { EntryUpdate, UpdateOutcome } from '../../../storage/entries/entry.ts';

/** The fields that an update has changed, with the names and in the order of 002's server. */
export function updatedFields(
  update: EntryUpdate,
  outcome: Extract<UpdateOutcome, { found: true }>,
  embeds: boolean,
): string[] {
  const isNewText = update.text !== undefined;
  const changes: [name: string, changed: boolean][] = [
    ['text_content', isNewText],
    ['metadata', update.metadata !== undefined],
    ['summary', isNewText && (update.summaryWanted === true || outcome.hadSummary)],
    ['metadata', update.metadataPatch !== undefined],
    ['tags', update.tags !== undefined],
    ['images', update.images !== undefined],
    // Whatever it was before, as the original has it.
    ['content_type', update.images !== undefined],
    ['embedding', isNewText && embeds],
  ];
  return changes.filter(([, changed]) => changed).map(([name]) => name);
}
