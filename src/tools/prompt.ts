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
  /** The message that opens the conversation. Argument values are data: they are quoted, never spliced as commands. */
  render(values: Record<string, string>): string;
}

/** Whatever an argument holds, it can't end its own frame. */
export function fenced(text: string): string {
  return `-----\n${text.replaceAll(/^-{3,}/gm, '—')}\n-----`;
}
