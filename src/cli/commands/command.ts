import type { FlagDescription } from '../flags.ts';

/** Describes one command, for parsing, help, completion, suggestions and docs/command-line.md. */
export interface CommandDescription {
  readonly name: string;
  readonly group: CommandGroup;
  readonly summary: string;
  /** Arguments as help shows them: `<query...>`, `[role]`. */
  readonly args?: string;
  /** Min and max number of arguments. Both default to 0. */
  readonly argsMin?: number;
  readonly argsMax?: number;
  /** The end of the error message "carrel <name> needs …". */
  readonly missing?: string;
  /** Shell completions for arguments. */
  readonly completes?: readonly string[] | 'files';
  /** Additional text for `carrel help <command>`. */
  readonly details?: string;
  readonly examples?: readonly string[];
  readonly flags: readonly FlagDescription[];
}

export const groups = {
  servers: 'Servers (serve is the default command)',
  setup: 'Set up and maintain',
  knowledge: 'Search and store',
  data: 'Move data',
} as const;

export type CommandGroup = keyof typeof groups;

/** A command as its group declares it, without the common flags. */
export type GroupedCommand = Omit<CommandDescription, 'group'>;

/** For `argsMax`: no upper limit. */
export const many = Number.POSITIVE_INFINITY;
