import { CarrelError } from '../../base/errors.ts';
import type { CommandLine } from '../command-line.ts';
import { quote, usageError } from '../usage-error.ts';
import { namedUri } from './named-uri.ts';
import { printHint, printJson } from './show.ts';
import { type OpenedTools, type OpenTools, withTools } from './with-tools.ts';

/** How to delete each kind of URI. */
const removals: readonly [pattern: RegExp, remove: (tools: OpenedTools, id: string) => Promise<unknown>][] = [
  [/^carrel:\/\/kb\/doc\/(\d+)$/, (tools, id) => tools.call('kb_delete', { document_id: Number(id) })],
  [/^carrel:\/\/notes\/([^/]+)$/, (tools, id) => tools.call('delete_note', { id })],
  [/^carrel:\/\/context\/(\d+)$/, removeEntry],
];

async function removeEntry(tools: OpenedTools, id: string): Promise<void> {
  const answer = await tools.call('delete_context', { context_ids: [Number(id)] });
  if (answer['deleted_count'] === 0) throw new CarrelError('entry_not_found', `There is no memory with id ${id}.`);
}

/** `carrel rm <uri…>`: deletes documents, notes and memories, each restorable for 30 days. Stops at the first that fails. */
export async function rmCommand(line: CommandLine, open: OpenTools): Promise<void> {
  // Validate every URI before deleting any.
  const targets = line.args.map((word) => {
    const { uri, toolset } = namedUri(word);
    for (const [pattern, remove] of removals) {
      const id = pattern.exec(uri)?.[1];
      if (id !== undefined) return { uri, toolset, remove: (tools: OpenedTools) => remove(tools, id) };
    }
    throw usageError(`${quote(uri)} cannot be deleted with carrel rm.`);
  });
  const deleted: string[] = [];
  const toolsets = [...new Set(targets.map(({ toolset }) => toolset))].join(',');
  try {
    await withTools(open, line, toolsets, async (tools) => {
      for (const { uri, remove } of targets) {
        await remove(tools);
        deleted.push(uri);
      }
    });
  } finally {
    if (line.flags['json'] === true || !process.stdout.isTTY) printJson({ deleted });
    else for (const uri of deleted) process.stdout.write(`deleted ${uri}\n`);
    if (deleted.length > 0) printHint('deleted items can be restored for 30 days, by an agent or in the console');
  }
}
