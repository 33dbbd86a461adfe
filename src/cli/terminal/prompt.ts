import { createInterface } from 'node:readline';

/** Asks questions at the terminal. */
export interface Prompt {
  /** Returns the typed line, trimmed. Empty at the end of input. */
  ask(question: string): Promise<string>;
  close(): void;
}

/** Returns undefined if there is no terminal. */
export function openPrompt(output: NodeJS.WriteStream = process.stdout): Prompt | undefined {
  if (!process.stdin.isTTY || !output.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output });
  // The iterator also returns lines that the user typed before the question.
  const typed = lines[Symbol.asyncIterator]();
  return {
    async ask(question) {
      lines.setPrompt(question);
      lines.prompt();
      const { value, done } = await typed.next();
      return done === true ? '' : value.trim();
    },
    close: () => lines.close(),
  };
}

/** Asks a yes-or-no question on stderr. Returns undefined if there is no terminal. */
export async function confirm(question: string): Promise<boolean | undefined> {
  const prompt = openPrompt(process.stderr);
  try {
    return prompt && /^y(?:es)?$/i.test(await prompt.ask(`${question} [y/N] `));
  } finally {
    prompt?.close();
  }
}
