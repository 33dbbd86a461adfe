import { roles } from '../../app/roles.ts';
import {
  allowFlag,
  engineRoleFlags,
  everywhere,
  type FlagDescription,
  serving,
  toolsetsFlag,
  toolsFlag,
} from '../flags.ts';
import type { CommandDescription, CommandGroup, GroupedCommand } from './command.ts';
import { dataCommands } from './data.ts';
import { knowledgeCommands } from './knowledge.ts';
import { setupCommands } from './setup.ts';

const ownFlags: Readonly<Record<string, readonly FlagDescription[]>> = {
  serve: [toolsetsFlag, toolsFlag, allowFlag],
  kb: [allowFlag],
  engine: engineRoleFlags,
};

const servers = Object.values(roles).map(
  ({ name, summary }): CommandDescription => ({
    name,
    group: 'servers',
    summary,
    flags: [...serving, ...(ownFlags[name] ?? [])],
  }),
);

const inGroup =
  (group: CommandGroup) =>
  (each: GroupedCommand): CommandDescription => ({ ...each, group });

/** In the order in which help shows them. Each also takes the flags that are the same everywhere. */
export const commands: readonly CommandDescription[] = [
  ...servers,
  ...setupCommands.map(inGroup('setup')),
  ...knowledgeCommands.map(inGroup('knowledge')),
  ...dataCommands.map(inGroup('data')),
].map((command) => ({ ...command, flags: [...command.flags, ...withoutOwn(everywhere, command.flags)] }));

/** `add` has a --version of its own. */
function withoutOwn(common: readonly FlagDescription[], own: readonly FlagDescription[]): FlagDescription[] {
  return common.filter(({ name }) => own.every((flag) => flag.name !== name));
}

const names = commands.map(({ name }) => name);

/** What a shell completes the words of a command with; those of `help` are the commands themselves. */
export function completionsOf({ name, completes }: CommandDescription): CommandDescription['completes'] {
  return name === 'help' ? names : completes;
}

export function findCommand(name: string): CommandDescription | undefined {
  return commands.find((command) => command.name === name);
}
