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
  /** The message that opens the conversation. Argument values are data: they are quoted, never spliced as commands. */
  render(values: Record<string, string>): string;
}
