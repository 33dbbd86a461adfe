import type { FlagDescription } from '../flags.ts';

/** One command, from which parsing, help, completion, "did you mean" and docs/command-line.md are made. */
export interface CommandDescription {
  readonly name: string;
  readonly group: CommandGroup;
  readonly summary: string;
  /** What follows the name, as help shows it: `<query...>`, `[role]`. */
  readonly words?: string;
  /** Without a bound on either side: none. */
  readonly wordsMin?: number;
  readonly wordsMax?: number;
  /** What is missing when there are fewer. */
  readonly needs?: string;
  /** What a shell completes a word with. */
  readonly completes?: readonly string[] | 'files';
  /** Sentences for those who ask for more. */
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

/** As it is listed in its group, without the flags that are the same everywhere. */
export type GroupedCommand = Omit<CommandDescription, 'group'>;

/** For words without a bound. */
export const many = Number.POSITIVE_INFINITY;
