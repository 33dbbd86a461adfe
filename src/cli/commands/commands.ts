import { commonFlags, type FlagDescription } from '../flags.ts';
import type { CommandDescription, CommandGroup, GroupedCommand } from './command.ts';
import { dataCommands } from './data.ts';
import { knowledgeCommands } from './knowledge.ts';
import { serverCommands } from './servers.ts';
import { setupCommands } from './setup.ts';

const inGroup =
  (group: CommandGroup) =>
  (each: GroupedCommand): CommandDescription => ({ ...each, group });

/** All commands, in the order of `carrel help`. Each also takes the common flags. */
export const commands: readonly CommandDescription[] = [
  ...serverCommands.map(inGroup('servers')),
  ...setupCommands.map(inGroup('setup')),
  ...knowledgeCommands.map(inGroup('knowledge')),
  ...dataCommands.map(inGroup('data')),
].map((command) => ({ ...command, flags: [...command.flags, ...withoutDeclared(commonFlags, command.flags)] }));

/** Returns the common flags without those that the command declares itself, such as --version of `add`. */
function withoutDeclared(common: readonly FlagDescription[], declared: readonly FlagDescription[]): FlagDescription[] {
  return common.filter(({ name }) => declared.every((flag) => flag.name !== name));
}

const names = commands.map(({ name }) => name);

/** Returns the shell completions for a command's arguments. `help` takes command names. */
export function completionsOf({ name, completes }: CommandDescription): CommandDescription['completes'] {
  return name === 'help' ? names : completes;
}

export function findCommand(name: string): CommandDescription | undefined {
  return commands.find((command) => command.name === name);
}
