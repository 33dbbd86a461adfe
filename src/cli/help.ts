import { requireCommand } from './command-line.ts';
import { type CommandDescription, type CommandGroup, groups } from './commands/command.ts';
import { commands, findCommand } from './commands/commands.ts';
import type { FlagDescription } from './flags.ts';

/** Lists all commands, and the flags of the default command. */
export function helpText(): string {
  const sections = (Object.keys(groups) as CommandGroup[]).map((group) => {
    const lines = commands.filter((command) => command.group === group).map(commandLine);
    return `${groups[group]}\n${lines.join('\n')}\n`;
  });
  return `carrel: an MCP server that gives AI agents memory, documents, web search and Fess search

Usage: carrel [command] [flags]

${sections.join('\n')}
Flags of carrel serve
${flagLines(findCommand('serve')?.flags ?? [])}

Run carrel help <command> to see the flags and examples of a command.
`;
}

/** Describes one command in detail. */
export function commandHelp(name: string): string {
  const command = requireCommand(name);
  const details = command.details === undefined ? '' : `\n${command.details}\n`;
  const examples = command.examples === undefined ? '' : `\nExamples\n${command.examples.map(indent).join('\n')}\n`;
  return `carrel ${command.name}: ${command.summary}

Usage: ${usageOf(command)}
${details}
Flags
${flagLines(command.flags)}
${examples}`;
}

export function usageOf({ name, args }: CommandDescription): string {
  return `carrel ${name}${args === undefined ? '' : ` ${args}`} [flags]`;
}

/** Returns a flag as it is typed, such as `--port <number>` or `-h, --help`. */
export function flagUsage({ name, short, value }: FlagDescription): string {
  const longForm = value === undefined ? `--${name}` : `--${name} <${value}>`;
  return short === undefined ? longForm : `-${short}, ${longForm}`;
}

function commandLine({ name, args, summary }: CommandDescription): string {
  return line(args === undefined ? name : `${name} ${args}`, summary);
}

function flagLines(flags: readonly FlagDescription[]): string {
  return flags.map((flag) => line(flagUsage(flag), flag.summary)).join('\n');
}

function line(name: string, summary: string): string {
  return `  ${name.padEnd(24)}  ${summary}`.trimEnd();
}

function indent(text: string): string {
  return `  ${text}`;
}
