import { type CommandLine, parseCommandLine } from './command-line.ts';
import { reportFailures } from './report-failures.ts';
import { openSharedTools } from './tool-commands/shared-tools.ts';
import { runToolCommand } from './tool-commands/tool-command.ts';
import type { OpenedTools } from './tool-commands/with-tools.ts';

/**
 * Lets a process that is already running answer a command. Returns false if the full program must run it, for example to report
 * an error. This file is a separate bundle, which loads much faster than the full program.
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
  await reportFailures(argv, () => runToolCommand(line, async () => opened));
  // Commands close the tools they use, but one with an invalid argument ends earlier.
  await opened.close();
  return true;
}
