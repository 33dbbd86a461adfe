import type { CommandLine } from '../command-line.ts';
import { commands } from '../commands/commands.ts';
import { quote, suggestion, usageError } from '../usage-error.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `carrel completion <shell>`: prints a completion script for the shell. */
export function completionCommand({ args: [shell = ''] }: CommandLine): void {
  const script = Object.hasOwn(shells, shell) ? shells[shell as keyof typeof shells] : undefined;
  if (script === undefined) {
    const names = Object.keys(shells);
    throw usageError(
      `There is no completion for ${quote(shell)}.${suggestion(shell, names)} Supported shells: ${names.join(', ')}.`,
    );
  }
  process.stdout.write(script(commands));
}
