import type { FlagDescription } from '../flags.ts';

/** Describes one command, for parsing, help, completion, suggestions and docs/command-line.md. */
export interface CommandDescription {
  readonly name: string;
  readonly group: CommandGroup;
  readonly summary: string;
  /** Arguments as help shows them: `<query...>`, `[role]`. */
  readonly words?: string;
  /** Min and max number of arguments. Both default to 0. */
  readonly wordsMin?: number;
  readonly wordsMax?: number;
  /** The end of the error message "carrel <name> needs …". */
  readonly needs?: string;
  /** Shell completions for arguments. */
  readonly completes?: readonly string[] | 'files';
  /** More text for `carrel help <command>`. */
  readonly more?: string;
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

/** For `wordsMax`: no upper limit. */
export const many = Number.POSITIVE_INFINITY;
