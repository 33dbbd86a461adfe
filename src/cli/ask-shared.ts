import type { OpenedTools } from './ask/ask.ts';
import { askingCommand } from './ask/asking-command.ts';
import { openSharedTools } from './ask/shared-tools.ts';
import { type CommandLine, parseCommandLine } from './command-line.ts';
import { reportFailures } from './report-failures.ts';

/**
 * Lets a process that is already running answer a command. Returns false if the full program must run it, for example to report
 * an error. This file is a separate bundle, which loads in a tenth of the time of the full program.
 */
export async function runShared(argv: readonly string[]): Promise<boolean> {
  let line: CommandLine;
  let tools: OpenedTools | undefined;
  try {
    line = parseCommandLine(argv);
    const { debug, help, version } = line.flags;
    if (debug === true || help === true || version === true) return false;
    tools = await openSharedTools(line);
  } catch {
    return false;
  }
  const opened = tools;
  if (opened === undefined) return false;
  await reportFailures(argv, () => askingCommand(line, async () => opened));
  return true;
}
