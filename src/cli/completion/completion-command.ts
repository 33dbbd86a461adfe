import { CarrelError } from '../../base/errors.ts';
import type { CommandLine } from '../command-line.ts';
import { commands } from '../commands/commands.ts';
import { didYouMean } from '../did-you-mean.ts';
import { bashCompletion } from './bash.ts';
import { fishCompletion } from './fish.ts';
import { zshCompletion } from './zsh.ts';

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

/** `carrel completion <shell>`: prints a completion script for the shell. */
export function completionCommand({ words: [shell = ''] }: CommandLine): void {
  const script = Object.hasOwn(shells, shell) ? shells[shell as keyof typeof shells] : undefined;
  if (script === undefined) {
    const known = Object.keys(shells);
    const meant = didYouMean(shell, known);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    const shown = JSON.stringify(shell.slice(0, 60));
    throw new CarrelError(
      'invalid_usage',
      `There is no completion for ${shown}.${hint} Supported shells: ${known.join(', ')}.`,
    );
  }
  process.stdout.write(script(commands));
}
