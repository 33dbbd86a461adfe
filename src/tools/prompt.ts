import type { Call } from './call.ts';

export interface PromptArgument {
  name: string;
  description: string;
  required: boolean;
}

export interface Prompt {
  name: string;
  title: string;
  description: string;
  arguments: readonly PromptArgument[];
  /** Suggestions for an argument, best first. */
  complete?(argument: string, typed: string, call: Call): Promise<string[]>;
  /** The opening message. Argument values are data: quoted, never spliced in as commands. */
  render(values: Record<string, string>): string;
}

/** Fences a text so that it can't close the fence itself. */
export function fenced(text: string): string {
  return `-----\n${text.replaceAll(/^-{3,}/gm, '—')}\n-----`;
}
