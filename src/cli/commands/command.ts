import type { FlagDescription } from '../flags.ts';

/** One command; source of parsing, help, completion, suggestions and docs/command-line.md. */
export interface CommandDescription {
  readonly name: string;
  readonly group: CommandGroup;
  readonly summary: string;
  /** Arguments as help shows them: `<query...>`, `[role]`. */
  readonly words?: string;
  /** Both default to 0. */
  readonly wordsMin?: number;
  readonly wordsMax?: number;
  /** Completes "carrel <name> needs …". */
  readonly needs?: string;
  /** Shell completions for arguments. */
  readonly completes?: readonly string[] | 'files';
  /** Further sentences for `carrel help <command>`. */
  readonly more?: string;
  readonly examples?: readonly string[];
  readonly flags: readonly FlagDescription[];
}

export const groups = {
  servers: 'Servers (without a command: serve)',
  setup: 'Set up and maintain',
  knowledge: 'Search and store',
  data: 'Move data',
} as const;

export type CommandGroup = keyof typeof groups;

/** A command as listed in its group, without the common flags. */
export type GroupedCommand = Omit<CommandDescription, 'group'>;

/** No upper limit on arguments. */
export const many = Number.POSITIVE_INFINITY;
