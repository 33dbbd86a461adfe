import type { Call } from './call.ts';

interface PromptArgument {
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
  /** Returns the opening message. Argument values must be quoted as data, so that they can't act as instructions. */
  render(values: Record<string, string>): string;
}

/** Fences a text so that it can't close the fence itself. */
export function fenced(text: string): string {
  return `-----\n${text.replaceAll(/^-{3,}/gm, '—')}\n-----`;
}
