import type { EntryUpdate, UpdateOutcome } from '../../../storage/entries/write-entries.ts';

/** Returns the changed fields, with the names and order that mcp-context-server uses. */
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
    // mcp-context-server lists this field even if its value stays the same.
    ['content_type', update.images !== undefined],
    ['embedding', isNewText && embeds],
  ];
  return changes.filter(([, changed]) => changed).map(([name]) => name);
}
