import { createInterface } from 'node:readline';

/** Asks the user at the terminal. */
export interface Person {
  /** Asks a question and returns the typed line, trimmed. Empty at the end of input. */
  ask(question: string): Promise<string>;
  close(): void;
}

/** Returns undefined if there is no terminal to ask at. */
export function findPerson(): Person | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // The iterator keeps lines that the user types before the question.
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
