import type { CommandDescription } from '../commands/command.ts';
import { completionsOf } from '../commands/commands.ts';
import type { FlagDescription } from '../flags.ts';

export function fishCompletion(commands: readonly CommandDescription[]): string {
  const lines = commands.flatMap(({ name, summary, flags, ...command }) => [
    `complete -c carrel -n __fish_use_subcommand -a ${name} -d ${quote(summary)}`,
    ...flags.map((flag) => flagLine(flag, `__fish_seen_subcommand_from ${name}`)),
    ...wordLines(name, completionsOf({ name, summary, flags, ...command })),
  ]);
  const serveFlags = commands.find(({ name }) => name === 'serve')?.flags ?? [];
  return `# Completes carrel in fish: carrel completion fish > ~/.config/fish/completions/carrel.fish
complete -c carrel -f
${serveFlags.map((flag) => flagLine(flag, '__fish_use_subcommand')).join('\n')}
${lines.join('\n')}
`;
}

function flagLine(flag: FlagDescription, when: string): string {
  const { name, short, summary, type, choices, completes } = flag;
  const parts = [`complete -c carrel -n ${quote(when)} -l ${name}`];
  if (short !== undefined) parts.push(`-s ${short}`);
  if (type !== 'boolean') parts.push('-r');
  if (choices !== undefined) parts.push(`-a ${quote(choices.join(' '))}`);
  if (completes === 'files') parts.push('-F');
  if (completes === 'folders') parts.push("-a '(__fish_complete_directories)'");
  return `${parts.join(' ')} -d ${quote(summary)}`;
}

function wordLines(name: string, completes: CommandDescription['completes']): string[] {
  if (completes === undefined) return [];
  const when = quote(`__fish_seen_subcommand_from ${name}`);
  return [`complete -c carrel -n ${when} ${completes === 'files' ? '-F' : `-a ${quote(completes.join(' '))}`}`];
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
